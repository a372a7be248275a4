// How the dashboard looks: fonts of the system, light and dark, wide and narrow. Served as a file of its own.

export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1c1f; --soft: #565a63; --paper: #fff; --panel: #f5f6f8; --line: #d9dce2; --accent: #1d4fd7; --on-accent: #fff; --bad: #b3261e; --good: #1b6e37 }
@media (prefers-color-scheme: dark) { :root { --ink: #eceef2; --soft: #aab0bc; --paper: #141518; --panel: #1e2025; --line: #3a3e47; --accent: #8fb0ff; --on-accent: #101218; --bad: #ff9c94; --good: #82d69b } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); overflow-wrap: anywhere }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1rem }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: center; padding-top: .75rem; padding-bottom: .75rem; border-bottom: 1px solid var(--line) }
header b { margin-right: .5rem } header nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; flex: 1 }
nav a[aria-current] { font-weight: 600; color: var(--ink) }
footer { color: var(--soft); padding: 2rem 1rem; font-size: .875rem }
a { color: var(--accent); text-underline-offset: .2em } a, button, input, select, summary { border-radius: .25rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.skip { position: absolute; left: -100rem } .skip:focus { position: static }
h1 { font-size: 1.5rem; margin: 1.5rem 0 1rem } h2 { font-size: 1.125rem; margin: 2rem 0 .5rem }
p { max-width: 44rem } .soft { color: var(--soft) } .bad { color: var(--bad) } .good { color: var(--good) }
.panel > :first-child { margin-top: 0 } .panel > :last-child { margin-bottom: 0 } .panel { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 1rem 0 }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9375rem }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line) } th { color: var(--soft); font-weight: 500 }
.whole { white-space: nowrap }
.number { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: break-word } details td:first-child { white-space: nowrap }
.panel table + table, details, details + table { margin-top: 1rem } details > :not(summary) { margin-top: .75rem }
code, .secret { font: .875em ui-monospace, monospace } pre { margin: .5rem 0 1rem; white-space: pre-wrap; font: .875rem ui-monospace, monospace }
.secret { display: block; padding: .75rem; border: 1px dashed var(--accent); border-radius: .25rem; user-select: all }
.tag { display: inline-block; font-size: .8125rem; border: 1px solid var(--line); border-radius: 1rem; padding: 0 .5rem }
form { margin: 0 } .fields { display: flex; flex-wrap: wrap; gap: .75rem 1rem; align-items: end } .fields label, .stack label { display: grid; gap: .25rem; font-size: .875rem; color: var(--soft) }
.stack { display: grid; gap: .75rem; max-width: 26rem } fieldset { border: 1px solid var(--line); border-radius: .25rem; padding: .5rem .75rem } .stack fieldset label { display: flex; align-items: center; gap: .5rem; color: var(--ink) }
input, select, button { font: inherit; min-height: 2.5rem; padding: .25rem .75rem; color: var(--ink); background: var(--paper); border: 1px solid #858b98; max-width: 100% }
input[type=checkbox] { flex: none; min-height: 0; width: 1.125rem; height: 1.125rem }
button { cursor: pointer } button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent) } button.bad { border-color: var(--bad); color: var(--bad) }
.chart { display: block; width: 100%; height: 10rem; background: var(--panel); border-radius: .5rem } .chart rect { fill: var(--accent) }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .375rem 1rem; margin: 0 } dt { color: var(--soft) } dd { margin: 0 } progress { width: 100%; accent-color: var(--accent) }
@media (max-width: 40rem) {
  header nav { flex-basis: 100%; order: 1 } header .soft { margin-left: auto }
  dl { grid-template-columns: 1fr; gap: 0 } dd { margin-bottom: .5rem } .fields > * { width: 100% }
  .cards thead { position: absolute; left: -100rem } .cards tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0 }
  .whole { white-space: normal }
  .cards td { display: grid; grid-template-columns: 7rem 1fr; border: 0; padding: .125rem 0; text-align: left } .cards td::before { content: attr(data-label); color: var(--soft); grid-row: 1 / span 9 } .cards td > * { grid-column: 2; justify-self: start }
}
`;
