/** The `yaml` library, loaded by the first text that is not plain YAML: most processes never need it. */
import type * as Yaml from 'yaml';
import { loadModule } from '../../on-demand.ts';

export function yamlLibrary(): typeof Yaml {
  return loadModule<typeof Yaml>('yaml');
}

export function isAlias(node: unknown): node is Yaml.Alias {
  return yamlLibrary().isAlias(node);
}

export function isMap(node: unknown): node is Yaml.YAMLMap {
  return yamlLibrary().isMap(node);
}

export function isScalar(node: unknown): node is Yaml.Scalar {
  return yamlLibrary().isScalar(node);
}

export function isSeq(node: unknown): node is Yaml.YAMLSeq {
  return yamlLibrary().isSeq(node);
}
