// How the card looks: one calm column, the system's own type, light and dark, from 320 px on.

const LIGHT =
  "--ground:#f3f4f1;--card:#fff;--ink:#16201b;--soft:#55615a;--line:#dde1dc;--button:#14532d;--on-button:#fff;--edge:#14532d;--accent:#14532d;" +
  "--good:#166534;--bad:#a3271c;--mark:#eef4ef";
const DARK =
  "--ground:#0f1412;--card:#18201c;--ink:#eef3ef;--soft:#a8b5ad;--line:#303a34;--button:#86efac;--on-button:#08130c;--edge:#86efac;--accent:#86efac;" +
  "--good:#86efac;--bad:#ff9d91;--mark:#202b25";

export const CARD_STYLE = `
body{margin:0;background:#f3f4f1}
main{min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:24px 16px;box-sizing:border-box}
.tg,.tg *{box-sizing:border-box}
.tg{${LIGHT};color-scheme:light;width:100%;max-width:420px;min-width:0;padding:32px;border:1px solid var(--line);border-radius:20px;background:var(--card);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;box-shadow:0 1px 2px #0000000a,0 12px 32px #0000000f;overflow-wrap:anywhere}
.tg p,.tg h1,.tg ul,.tg ol{margin:0;padding:0}
.tg [hidden]{display:none}
.tg-head{display:flex;align-items:center;gap:12px;color:var(--soft);font-size:15px}
.tg-head p{flex:1}
.tg-head img{border-radius:10px;object-fit:contain}
.tg h1{margin:20px 0 2px;font-size:22px;line-height:1.3;font-weight:650;letter-spacing:-.01em}
.tg h1.tg-long{font-size:17px;font-weight:550}
.tg-url,.tg-detail,.tg-foot{color:var(--soft);font-size:14px}
.tg-price{margin-top:24px!important;font-size:40px;line-height:1.15;letter-spacing:-.02em}
.tg-price.tg-long{font-size:26px}
.tg-price b{font-weight:680}
.tg-offers{margin:20px 0 0;padding:0;border:0;display:grid;gap:8px;min-width:0}
.tg-offers legend{padding:0 0 6px;font-size:14px;color:var(--soft)}
.tg-offers label{display:flex;gap:10px;align-items:center;padding:10px 14px;border:1px solid var(--line);border-radius:12px;cursor:pointer}
.tg-offers label:has(:checked){border-color:var(--accent);background:var(--mark)}
.tg-offers input{accent-color:var(--accent);margin:0;flex:none;width:18px;height:18px}
.tg-steps{display:flex;gap:8px;margin-top:20px!important;list-style:none;font-size:13px;color:var(--soft)}
.tg-steps li{flex:1;padding-top:8px;border-top:3px solid var(--line)}
.tg-steps li[data-at]{border-color:var(--accent)}
.tg-steps li[data-at=now]{color:var(--ink);font-weight:600}
.tg-steps li[data-at=now]{animation:tg-breathe 1.4s ease-in-out infinite}
@keyframes tg-breathe{50%{border-color:var(--line)}}
.tg-status{margin-top:16px!important}
.tg-status:empty{margin-top:0!important}
.tg-status p+p{margin-top:8px}
.tg-status .tg-good{color:var(--good);font-weight:600}
.tg-status .tg-bad{color:var(--bad);font-weight:600}
.tg-status code{font:13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--soft)}
.tg-actions{display:grid;gap:10px;margin-top:20px}
.tg-actions:empty{display:none}
.tg button{display:flex;align-items:center;justify-content:center;gap:10px;width:100%;min-height:48px;padding:10px 16px;border:1px solid var(--edge);border-radius:12px;background:var(--button);color:var(--on-button);font:inherit;font-weight:600;cursor:pointer}
.tg button.tg-second{background:none;color:var(--ink);border-color:var(--line);font-weight:500}
.tg button img{width:24px;height:24px;border-radius:6px}
.tg button:disabled{opacity:.55;cursor:default}
.tg :focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.tg-phone{margin-top:20px;border-top:1px solid var(--line);padding-top:14px;font-size:14px;color:var(--soft)}
.tg-phone summary{cursor:pointer;color:var(--ink);padding:4px 0;border-radius:6px}
.tg-qr{margin:12px auto;width:176px;max-width:100%}
.tg-qr svg{display:block;width:100%;height:auto;border-radius:12px}
.tg-links{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin-top:6px!important}
.tg a{color:var(--ink);display:inline-block;padding:4px 0}
.tg-foot{margin-top:24px!important;font-size:13px}
.tg-foot span{white-space:nowrap}
@media(max-width:440px){main{padding:12px;place-items:start center}.tg{padding:24px 20px;border-radius:16px}}
@media(prefers-reduced-motion:reduce){.tg *{animation:none!important}}
@media(prefers-color-scheme:dark){body{background:#0f1412}.tg{${DARK};color-scheme:dark;box-shadow:none}}
`.replaceAll(/\n+/g, "");
