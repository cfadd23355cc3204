module rocesim.invalid/session

go 1.19
