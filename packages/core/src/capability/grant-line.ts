import type { CapabilityList } from './pattern.ts';

/** The line of YAML that grants it. */
export function grantLine(list: CapabilityList, entry: string): string {
  const [kind, access] = list.split('.');
  const entries = `[${plainYaml(entry)}]`;
  return `config: { capabilities: { ${kind}: ${access === undefined ? entries : `{ ${access}: ${entries} }`} } }`;
}

/** Quoted unless it is plain text in YAML beyond doubt. */
function plainYaml(text: string): string {
  const isPlain = /^[A-Za-z_/][\w./-]*(:\d+)?$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
