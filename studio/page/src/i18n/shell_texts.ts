// SPDX-License-Identifier: Apache-2.0
// Texts of the shell, of dialogs and parts of views, and of the views of accounts, files and the library.
import { plural, n_of, type Both } from "./both";

export const shell_texts = (of: Both) => ({
    common: {
        loading: of("Loading…", "加载中…"),
        try_again: of("Try again", "重试"),
        cancel: of("Cancel", "取消"),
        column_edge: of("Drag to set the width of the column", "拖动以设置列宽"),
        close: of("Close", "关闭"),
        nothing_found: of("Nothing found", "没有找到"),
        shared: of("shared", "已共享"),
        share_with_all: of("Share with all users of this server", "共享给本服务器的所有用户"),
    },
    errors: {
        offline: of("The server does not answer. The page keeps trying…", "服务器没有响应，正在重试…"),
        forbidden: of("Your role does not allow this action.", "您的角色无权执行此操作。"),
        too_large: of("The file or request is larger than the server accepts.", "文件或请求超过服务器允许的大小。"),
        disk_full: of(
            "The server's disk is full. Remove runs, or ask an administrator for space.",
            "服务器磁盘已满。请删除一些运行，或联系管理员。",
        ),
        unknown: of("The server reported an error without a reason.", "服务器出错，但没有说明原因。"),
        expected: of("expected", "应为"),
        no_view: of("This view cannot be shown", "无法显示此页面"),
        no_such_view: of("This page does not exist", "页面不存在"),
        no_such_view_text: of(
            "No view of the studio has this address. The link may come from another version.",
            "没有与此地址对应的页面。该链接可能来自其他版本。",
        ),
    },
    nav: {
        label: of("Main menu", "主菜单"),
        skip: of("Skip to the content", "跳到正文"),
        simulate: of("Simulate", "模拟仿真"),
        runs: of("Runs", "运行"),
        query: of("Log query", "日志查询"),
        captures: of("Captures", "抓包"),
        process: of("Process data", "数据处理"),
        account: of("Account", "账户"),
        users: of("Administration", "管理"),
        help: of("Help and shortcuts", "帮助与快捷键"),
        theme: of("Theme", "主题"),
        theme_auto: of("System theme", "跟随系统"),
        theme_light: of("Light theme", "浅色主题"),
        theme_dark: of("Dark theme", "深色主题"),
        language: of("Language", "语言"),
        log_out: of("Log out", "退出登录"),
        busy: of(
            (n: number) => `${plural(n, "run")} waiting or running`,
            (n) => `${n_of(n)} 个运行正在排队或执行`,
        ),
    },
    help: {
        title: of("Keyboard shortcuts", "键盘快捷键"),
        key: of("Keys", "按键"),
        does: of("Action", "功能"),
        search: of("Go to the search field", "转到搜索框"),
        more: of(
            "In the editor, Ctrl+Space completes a word, Ctrl+F searches and Tab indents; press Escape and " +
                "then Tab to leave it. In tables, the arrow keys move and Enter opens a row. In a topology, the " +
                "arrow keys move, + and − zoom and 0 shows everything. In a plot, drag to choose a range and " +
                "double-click to show everything.",
            "编辑器：Ctrl+空格补全，Ctrl+F 查找，Tab 缩进；先按 Esc 再按 Tab 可离开编辑器。表格：" +
                "方向键移动，回车打开一行。拓扑图：方向键平移，+ 和 − 缩放，0 显示全部。图表：拖动选择范围，双击显示全部。",
        ),
    },
    login: {
        title: of("Log in", "登录"),
        lead: of(
            "Simulate RDMA networks, query their logs, and draw figures of the results.",
            "仿真 RDMA 网络，查询日志，并将结果绘制成图。",
        ),
        tagline: of("RDMA networks, packet by packet", "逐包仿真 RDMA 网络"),
        name: of("Name", "用户名"),
        password: of("Password", "密码"),
        log_in: of("Log in", "登录"),
        first_start: of(
            "Is this the first start? The server printed a link in its terminal. Open it to create the administrator.",
            "首次启动？服务器已在终端打印一个链接，打开它即可创建管理员。",
        ),
        wrong: of("The name or the password is wrong.", "用户名或密码错误。"),
        locked: of(
            (s: number) => `There were too many attempts. Try again in ${plural(s, "second")}.`,
            (s) => `尝试次数过多，请在 ${s} 秒后重试。`,
        ),
        ended: of("Your session has ended. Please log in again.", "会话已结束，请重新登录。"),
        new_password: of("New password", "新密码"),
        repeat_password: of("Repeat the password", "再次输入新密码"),
        password_hint: of(
            "At least 10 characters. A sentence is easy to remember.",
            "至少 10 个字符。用一句话作密码便于记忆。",
        ),
        too_short: of("The password needs at least 10 characters.", "密码至少需要 10 个字符。"),
        not_same: of("The two passwords differ.", "两次输入的密码不一致。"),
        first_title: of("Welcome", "欢迎"),
        first_lead: of(
            "This link works only once. Choose the password that you will log in with.",
            "此链接只能使用一次。请设置今后登录时使用的密码。",
        ),
        name_hint: of(
            "Only for the first administrator. Leave it empty if you were invited.",
            "仅供首位管理员填写。受邀用户请留空。",
        ),
        create: of("Set the password and log in", "设置密码并登录"),
        link_used: of(
            "This link has been used or has expired. Ask an administrator for a new one.",
            "此链接已使用或已过期，请向管理员索取新链接。",
        ),
    },
    roles: {
        administrator: of("Administrator", "管理员"),
        user: of("User", "用户"),
        viewer: of("Viewer", "只读用户"),
    },
    role_texts: {
        administrator: of("may do everything and manages users", "拥有全部权限，并管理用户"),
        user: of("may run simulations and save scenarios", "可以运行仿真和保存场景"),
        viewer: of("may only look at what others share", "只能查看他人共享的内容"),
    },
    account: {
        password: of("Password", "密码"),
        old_password: of("Current password", "当前密码"),
        change_password: of("Change the password", "修改密码"),
        password_changed: of("Your password has been changed.", "密码已修改。"),
        sessions: of("Sessions", "会话"),
        begun: of("Started", "开始时间"),
        seen: of("Last active", "最近活动"),
        from: of("Address", "来源地址"),
        browser: of("Browser", "浏览器"),
        this_one: of("this session", "当前会话"),
        everywhere: of("Log out everywhere", "退出所有会话"),
        everywhere_text: of(
            "This ends all your sessions, including the one you are using now.",
            "将结束您的所有会话，包括当前会话。",
        ),
        tokens: of("Tokens for scripts", "脚本令牌"),
        tokens_text: of(
            "With a token, a script can do everything that you can do on this page.",
            "脚本使用令牌，即可执行您在页面上能做的所有操作。",
        ),
        api_page: of("See all routes (OpenAPI).", "查看全部接口（OpenAPI）。"),
        no_tokens: of("You have no tokens.", "您还没有令牌。"),
        new_token: of("New token", "新建令牌"),
        token_name: of("Purpose", "用途"),
        token_hint: of("The purpose shows you later which token to revoke.", "用途可帮助您日后判断应吊销哪个令牌。"),
        last_used: of("Last used", "最近使用"),
        expires: of("Expires", "到期"),
        never: of("never", "永不"),
        days: of(
            (n: number) => `in ${n} days`,
            (n) => `${n} 天后`,
        ),
        create_token: of("Create the token", "创建令牌"),
        token_made: of("Your token", "您的令牌"),
        token_once: of(
            "The token is shown only now. Keep it as safe as a password.",
            "令牌只显示这一次，请像密码一样妥善保管。",
        ),
        copy: of("Copy", "复制"),
        copied: of("Copied to the clipboard.", "已复制到剪贴板。"),
        revoke: of("Revoke", "吊销"),
        revoke_text: of(
            (name: string) => `The server will refuse scripts that use the token “${name}”.`,
            (name) => `服务器将拒绝使用令牌“${name}”的脚本。`,
        ),
    },
    admin: {
        title: of("Administration", "管理"),
        lead: of(
            "Manage who may log in, read what users did, and check the server.",
            "管理可登录的用户，查看操作记录和服务器状态。",
        ),
        users: of("Users", "用户"),
        audit: of("Audit log", "审计日志"),
        server: of("Server", "服务器"),
        name: of("Name", "用户名"),
        role: of("Role", "角色"),
        role_of: of(
            (name: string) => `Role of ${name}`,
            (name) => `${name} 的角色`,
        ),
        state: of("State", "状态"),
        last_login: of("Last active", "最近活动"),
        active: of("active", "正常"),
        disabled: of("disabled", "已停用"),
        invited: of("invited", "已邀请"),
        enable: of("Enable", "启用"),
        disable: of("Disable", "停用"),
        add: of("Invite a user", "邀请用户"),
        add_text: of(
            "You get a link that works once. With it the new user chooses a password.",
            "您将得到一个一次性链接，新用户用它设置密码。",
        ),
        reset: of("New link", "生成新链接"),
        reset_text: of(
            "The current password stops working. The user sets a new one with a link that works once.",
            "当前密码将失效，用户通过一次性链接设置新密码。",
        ),
        link_for: of(
            (name: string) => `Link for ${name}`,
            (name) => `${name} 的链接`,
        ),
        link_text: of(
            "The link works once. Send it to the user in a way that you trust.",
            "该链接只能使用一次，请通过可信的方式发送给用户。",
        ),
        time: of("Time", "时间"),
        who: of("User", "用户"),
        action: of("Action", "操作"),
        object: of("Object", "对象"),
        address: of("Address", "来源地址"),
        search_audit: of("Name of a user…", "用户名…"),
        waiting: of("runs waiting", "排队中的运行"),
        running: of("runs running / limit", "执行中的运行 / 上限"),
        free: of("free disk space", "磁盘剩余空间"),
        trash: of("size of the trash", "回收站大小"),
        version: of("version of rocesim", "rocesim 版本"),
        disk_used: of("Share of the disk in use", "磁盘使用率"),
    },
    files: {
        title: of("My files", "我的文件"),
        lead: of(
            "Scenarios, workloads, topologies, matrices, traces and captures of your own. Only you and your runs can " +
                "read them. A scenario names them as on the command line.",
            "您自己的场景、工作负载、拓扑、矩阵、踪迹和抓包文件。只有您和您的运行可以读取。场景引用文件的方式与命令行相同。",
        ),
        drop: of(
            "Drop files or folders here, or choose them by the buttons above.",
            "将文件或文件夹拖放到此处，或用上方的按钮选择。",
        ),
        choose: of("Upload files", "上传文件"),
        choose_folder: of("Upload a folder", "上传文件夹"),
        sending: of(
            (done: number, all: number) => `Uploading: ${done} of ${all} files`,
            (done, all) => `正在上传：第 ${done} 个，共 ${all} 个文件`,
        ),
        sent: of(
            (n: number) => (n === 1 ? "1 file was uploaded." : `${n} files were uploaded.`),
            (n) => `已上传 ${n} 个文件。`,
        ),
        not_sent: of(
            (n: number) => (n === 1 ? "1 file was not kept:" : `${n} files were not kept:`),
            (n) => `${n} 个文件未能保存：`,
        ),
        stop: of("Stop", "停止"),
        used: of(
            (used: string, quota: string, count: number, most: number) =>
                `${used} of ${quota}, ${count} of ${most} files and folders`,
            (used, quota, count, most) => `已用 ${used}，共 ${quota}；${count} 个文件和文件夹，最多 ${most} 个`,
        ),
        share_used: of("Share of your quota that is used", "已用配额的比例"),
        none: of("You have no files yet", "您还没有文件"),
        name: of("Name", "名称"),
        size: of("Size", "大小"),
        changed: of("Changed", "修改时间"),
        what: of("Contents", "内容"),
        check: of("Check", "检查"),
        check_label: of(
            (path: string) => `Check ${path}`,
            (path) => `检查 ${path}`,
        ),
        open: of("Simulate", "仿真"),
        open_capture: of("Show packets", "显示数据包"),
        make_scenario: of("Make a scenario", "生成场景"),
        make_scenario_hint: of(
            "Reads all files of the same folder and makes a scenario of the fabric, as `rocesim import` does",
            "读取同一文件夹中的所有文件，并像 `rocesim import` 那样生成该网络的场景",
        ),
        own_workload: of(
            "Your file in a scenario of the library. Its parameters stand at the top.",
            "在场景库的场景中使用您的文件。参数位于文件开头。",
        ),
        remove: of("Remove", "删除"),
        remove_text: of(
            (path: string) => `${path} is removed at once, and cannot be restored.`,
            (path) => `${path} 将立即删除，无法恢复。`,
        ),
        download: of("Download", "下载"),
        my_file: of("one of my files", "我的文件"),
        own_scenario: of(
            "A scenario of your files. Its file names start in its folder.",
            "您文件中的场景。其中的文件名从该场景所在的文件夹开始。",
        ),
        kinds: {
            scenario: of("scenario", "场景"),
            workload: of("workload", "工作负载"),
            requests: of("requests", "请求踪迹"),
            capture: of("capture", "抓包"),
            fabric: of("fabric", "网络配置"),
            counters: of("counters", "计数器"),
            other: of("other", "其他"),
        },
    },
    counters: {
        title: of("Explain counters", "解释计数器"),
        lead: of(
            "Finds the causes of pauses in counters that switches and hosts of a real network print",
            "从真实网络的交换机和主机打印的计数器中找出暂停的原因",
        ),
        choose_text: of(
            "Choose the network: a CSV file of its links, or the folder of its switches' configurations. Then mark " +
                "the counters: one CSV file of samples, or snapshots in the order of their times.",
            "先选择网络：链路的 CSV 文件，或交换机配置所在的文件夹。再勾选计数器：一个采样 CSV 文件，或按时间先后选择多个快照。",
        ),
        network: of("Network", "网络"),
        find: of("Find a file", "查找文件"),
        explain: of("Explain", "解释"),
    },
    shelf: {
        title: of("Simulate", "模拟仿真"),
        lead: of(
            "Each scenario answers a question. Open one, change it and run it, or write a new one.",
            "每个场景回答一个问题。打开一个场景，修改并运行，或新建一个。",
        ),
        search: of("Search for questions and scenarios…", "搜索问题与场景…"),
        open_file: of("Open a file", "打开文件"),
        blank: of("New scenario", "新建场景"),
        new_run: of("New simulation", "新建仿真"),
        own: of("Saved scenarios", "已保存的场景"),
        study: of("study", "研究"),
        command_only: of("command line only", "仅限命令行"),
        command_only_hint: of(
            "Processes of this machine take part, which the studio does not let. Run the scenario with this command.",
            "本机的进程会参与该场景，工作室从不允许。可在此阅读，并用此命令运行。",
        ),
        nothing: of("No scenario matches", "没有匹配的场景"),
        nothing_text: of("Search for other words, or write a new scenario.", "请换个关键词，或新建场景。"),
        show_all: of("Show all scenarios", "显示全部场景"),
        remove: of("Remove", "删除"),
        remove_text: of(
            (name: string) => `The scenario “${name}” will be removed. Its runs stay.`,
            (name) => `将删除场景“${name}”，其运行结果会保留。`,
        ),
        groups: {
            basics: of("First steps", "入门"),
            demo: of("Data centre networks", "数据中心网络"),
            cache: of("Tiered cache of a NIC", "网卡的分层缓存"),
            herd: of("HERD key-value store", "HERD 键值存储"),
            mooncake: of("Mooncake transfer engine", "Mooncake 传输引擎"),
            wan: of("Long-distance networks", "长距离网络"),
            guidelines: of("Design guidelines for RDMA", "RDMA 设计准则"),
            papers: of("Figures from papers", "论文中的图"),
            scenarios: of("First steps", "入门"),
            "": of("First steps", "入门"),
        } as Record<string, string>,
    },
    saved: {
        open: of("Open", "打开"),
        save: of("Save", "保存"),
        name: of("Name", "名称"),
        none: of("Nothing has been saved yet.", "还没有保存任何内容。"),
        unnamed: of("unnamed", "未命名"),
        kept: of("Your work has been saved.", "已保存。"),
        remove: of("Remove", "删除"),
        remove_text: of(
            (name: string) => `“${name}” will be removed.`,
            (name) => `将删除“${name}”。`,
        ),
    },
    picker: {
        title: of("Choose runs", "选择运行"),
        runs: of("Runs", "运行"),
        run: of("Run", "运行"),
        choose: of("Choose runs", "选择运行"),
        change: of("Change", "更改"),
        use: of("Use the marked runs", "使用所选运行"),
        leave_out: of(
            (name: string) => `Leave out ${name}`,
            (name) => `去掉 ${name}`,
        ),
        more: of(
            (n: number) => `and ${n} more`,
            (n) => `以及另外 ${n} 个`,
        ),
    },
    range: {
        title: of("Time range", "时间范围"),
        from: of("From", "从"),
        to: of("To", "到"),
        end: of("end", "结束"),
        whole: of("Whole run", "整个运行"),
        hint: of("Views over time show this range, totals the whole run.", "时间视图显示此范围，汇总为整个运行。"),
        events: of("Events", "事件"),
        packets: of("Packets", "数据包"),
        plots: of("Plots", "曲线"),
    },
    plot: {
        nothing: of("There are no values in this range.", "此范围内没有数据。"),
        save_as: of(
            (format: string) => `Save the figure as ${format}`,
            (format) => `将图保存为 ${format}`,
        ),
        no_png: of("The browser could not draw the figure as PNG.", "浏览器无法将图绘制为 PNG。"),
    },
    map: {
        zoom_in: of("Zoom in", "放大"),
        zoom_out: of("Zoom out", "缩小"),
        fit: of("Show the whole network", "显示整个网络"),
        host: of("host", "主机"),
        switch: of("switch", "交换机"),
        links: of(
            (n: number) => plural(n, "link"),
            (n) => `${n_of(n)} 条链路`,
        ),
        label: of(
            (hosts: number, switches: number, links: number) =>
                `${plural(hosts, "host")}, ${plural(switches, "switch", "switches")}, ${plural(links, "link")}`,
            (hosts, switches, links) => `${n_of(hosts)} 台主机，${n_of(switches)} 台交换机，${n_of(links)} 条链路`,
        ),
        tier: of(
            (hosts: number, switches: number, nodes: number) =>
                [
                    hosts > 0 ? plural(hosts, "host") : "",
                    switches > 0 ? plural(switches, "switch", "switches") : "",
                    nodes < hosts + switches ? `drawn as ${plural(nodes, "node")}` : "",
                ]
                    .filter(Boolean)
                    .join(", "),
            (hosts, switches, nodes) =>
                [
                    hosts > 0 ? `${n_of(hosts)} 台主机` : "",
                    switches > 0 ? `${n_of(switches)} 台交换机` : "",
                    nodes < hosts + switches ? `画为 ${n_of(nodes)} 个节点` : "",
                ]
                    .filter(Boolean)
                    .join("，"),
        ),
        open: of("Open", "展开"),
        close: of("Fold", "折叠"),
        open_hint: of("double-click: open", "双击展开"),
    },
});
