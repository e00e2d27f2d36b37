/** The style sheet of the element; constructed, so that no policy needs to allow inline styles. */
const CSS = `
:host { display: block; position: relative; min-height: 120px; contain: layout paint; outline: none; touch-action: none; user-select: none; -webkit-user-select: none; -webkit-touch-callout: none; cursor: default; }
:host([hidden]) { display: none; }
:host([data-over]) { cursor: pointer; }
:host([data-dragging]) { cursor: grabbing; }
.stage { position: absolute; inset: 0; }
canvas { position: absolute; inset: 0; width: 100%; height: 100%; pointer-events: none; }
.aside { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); margin: 0; padding: 0; outline: none; }
.empty { position: absolute; inset: 0; display: grid; place-items: center; font: 13px "IBM Plex Sans", system-ui, sans-serif; opacity: 0.6; pointer-events: none; }
`;

let sheet: CSSStyleSheet | undefined;

export function styleSheet(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
