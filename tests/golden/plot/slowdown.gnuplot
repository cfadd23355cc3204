set encoding utf8
set terminal svg size 640,440 noenhanced font 'sans-serif,13' linewidth 1.2 rounded background '#ffffff'
set border 3 linecolor '#404040'
set tics nomirror out scale 0.6
set grid linetype 1 linewidth 0.5 linecolor '#dcdcdc'
set key tmargin left Left reverse horizontal samplen 2
set label 9999 'a point: 50 % of the flows' at screen 0.01,0.02 left font 'sans-serif,11' textcolor '#606060'
$run0 << EOD
1 10.5 20.5 20.5
2 31.5 40.5 40.5
EOD
set xtics rotate by -45 font 'sans-serif,11' ('20K' 1, '40K' 2)
set xrange [0.5:2.5]
set logscale y
set yrange [1:50]
set ytics ('1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50)
set xlabel 'flow size up to (bytes)'
set key title 'a (40 of 41 flows)' left
set ylabel 'FCT slowdown'
plot $run0 using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor '#0072B2' title 'median', $run0 using 1:3 with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor '#D55E00' title '95th percentile', $run0 using 1:4 with linespoints linewidth 2 pointtype 7 pointsize 0.5 linecolor '#009E73' title '99th percentile'
