/** The style sheet of the API reference, light and dark. */
export const STYLE = `
:root{color-scheme:light dark;--ink:light-dark(#171a24,#e8eaf0);--soft:light-dark(#5b6475,#9aa3b5);--line:light-dark(#e5e8f0,#262c3b);
--paper:light-dark(#fff,#0f121a);--tint:light-dark(#f7f8fc,#151925);--accent:light-dark(#4f46e5,#a5b4fc);--chip:light-dark(#eef0f7,#222838);
--get:light-dark(#047857,#6ee7b7);--post:light-dark(#1d4ed8,#93c5fd);--put:light-dark(#b45309,#fcd34d);--delete:light-dark(#b91c1c,#fca5a5)}
*{box-sizing:border-box}html{scroll-behavior:smooth;scroll-padding-top:20px}
body{margin:0;font:15px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper);display:flex}
nav{position:sticky;top:0;height:100vh;width:240px;flex:none;padding:28px 16px;border-right:1px solid var(--line);background:var(--tint);display:flex;flex-direction:column;overflow:auto}
nav b,nav small,nav h5{padding:0 10px}nav b{font-size:17px;letter-spacing:-.01em}nav small{color:var(--soft)}
nav h5{margin:22px 0 4px;font-size:11px;text-transform:uppercase;letter-spacing:.08em;color:var(--soft)}
nav a{color:var(--ink);text-decoration:none;padding:4px 10px;border-radius:7px;font-size:14px}nav a:hover{background:var(--chip);color:var(--accent)}
main{max-width:1040px;padding:36px 52px 140px;flex:1;min-width:0}
h1{font-size:34px;line-height:1.2;letter-spacing:-.02em;margin:0 0 6px}.lead{font-size:17px;color:var(--soft);margin:0 0 12px}
h2{margin:0 0 10px;font-size:21px;letter-spacing:-.01em}section{margin-top:52px}section>p{max-width:76ch;margin:8px 0}
h4{margin:22px 0 6px;color:var(--soft);font-size:11px;font-weight:600;text-transform:uppercase;letter-spacing:.08em}h4 em{color:var(--ink)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,monospace}p code,td code,.lead code{background:var(--chip);border-radius:5px;padding:1px 5px;white-space:nowrap}
td:first-child code{background:none;padding:0;font-weight:600}code.value{white-space:nowrap}
pre{margin:14px 0;padding:16px 18px;border:1px solid var(--line);border-radius:12px;background:var(--tint);font:13px/1.6 ui-monospace,SFMono-Regular,Menlo,monospace;overflow:auto}
em{font-style:normal;font-weight:600}i{font-style:normal;color:var(--accent)}
details{border:1px solid var(--line);border-radius:12px;margin:8px 0;overflow:hidden}details:hover{border-color:var(--soft)}
details[open]{background:var(--tint)}details[open]>summary{border-bottom:1px solid var(--line)}details>div{padding:4px 18px 20px}
summary{cursor:pointer;padding:11px 16px;display:grid;grid-template-columns:64px minmax(0,1fr) minmax(0,1fr);gap:14px;align-items:baseline;list-style:none}
summary::-webkit-details-marker{display:none}summary code{overflow-wrap:anywhere}summary span{color:var(--soft);font-size:14px}
summary:focus-visible,nav a:focus-visible{outline:2px solid var(--accent);outline-offset:-2px}
summary b{font:700 11px/20px ui-monospace,monospace;text-align:center;border-radius:6px;color:var(--c);background:color-mix(in srgb,var(--c) 12%,transparent)}
.get{--c:var(--get)}.post{--c:var(--post)}.put{--c:var(--put)}.delete{--c:var(--delete)}
.meta{color:var(--soft);font-size:13px;margin:12px 0 0}.meta em{color:var(--ink)}
table{border-collapse:collapse;width:100%;font-size:14px}td{border-top:1px solid var(--line);padding:7px 14px 7px 0;vertical-align:top;overflow-wrap:break-word}
tr:first-child>td{border-top:0}td:first-child{white-space:nowrap;width:1%}td:nth-child(2){color:var(--soft);width:24%;min-width:110px}
td small{color:var(--soft)}td table{margin:8px 0 2px;padding-left:12px;border-left:2px solid var(--line)}td table td{padding-left:12px}
@media(max-width:860px){nav{display:none}main{padding:22px 18px 80px}summary{grid-template-columns:64px minmax(0,1fr)}summary span{grid-column:1/-1}td:first-child{white-space:normal;width:auto}}`;
