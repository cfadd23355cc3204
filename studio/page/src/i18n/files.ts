// SPDX-License-Identifier: Apache-2.0
// The texts of the user's own files, in both languages.

export const files_en = {
    title: "My files",
    lead:
        "Scenarios, workloads, topologies, matrices, traces and captures of your own. Only you and your runs can " +
        "read them. A scenario names them as on the command line.",
    drop: "Drop files or folders here, or choose them.",
    choose: "Upload files",
    choose_folder: "Upload a folder",
    sending: (done: number, all: number) => `Uploading: ${done} of ${all} files`,
    sent: (n: number) => (n === 1 ? "1 file was uploaded." : `${n} files were uploaded.`),
    not_sent: (n: number) => (n === 1 ? "1 file was not kept:" : `${n} files were not kept:`),
    stop: "Stop",
    used: (used: string, quota: string, count: number, most: number) =>
        `${used} of ${quota}, ${count} of ${most} files and folders`,
    share_used: "Share of your quota that is used",
    none: "You have no files yet",
    name: "Name",
    size: "Size",
    changed: "Changed",
    what: "Contents",
    check: "Check",
    check_label: (path: string) => `Check ${path}`,
    open: "Simulate",
    remove: "Remove",
    remove_text: (path: string) => `${path} is removed at once, and cannot be restored.`,
    download: "Download",
    my_file: "one of my files",
    own_scenario: "A scenario of your files. Its file names start in its folder.",
    kinds: { scenario: "scenario", workload: "workload", capture: "capture", other: "other" },
};

export const files_zh: typeof files_en = {
    title: "我的文件",
    lead: "您自己的场景、工作负载、拓扑、矩阵、踪迹和抓包文件。只有您和您的运行可以读取。场景引用文件的方式与命令行相同。",
    drop: "将文件或文件夹拖放到此处，或点击选择。",
    choose: "上传文件",
    choose_folder: "上传文件夹",
    sending: (done: number, all: number) => `正在上传：第 ${done} 个，共 ${all} 个文件`,
    sent: (n: number) => `已上传 ${n} 个文件。`,
    not_sent: (n: number) => `${n} 个文件未能保存：`,
    stop: "停止",
    used: (used: string, quota: string, count: number, most: number) =>
        `已用 ${used}，共 ${quota}；${count} 个文件和文件夹，最多 ${most} 个`,
    share_used: "已用配额的比例",
    none: "您还没有文件",
    name: "名称",
    size: "大小",
    changed: "修改时间",
    what: "内容",
    check: "检查",
    check_label: (path: string) => `检查 ${path}`,
    open: "仿真",
    remove: "删除",
    remove_text: (path: string) => `${path} 将立即删除，无法恢复。`,
    download: "下载",
    my_file: "我的文件",
    own_scenario: "您文件中的场景。其中的文件名从该场景所在的文件夹开始。",
    kinds: { scenario: "场景", workload: "工作负载", capture: "抓包", other: "其他" },
};
