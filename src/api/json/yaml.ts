import type { Parsed } from './parse.ts'
import { YamlParser } from './yaml-parser.ts'

export interface ParsedYaml extends Parsed {
  /** What was said twice, as Kubernetes tells it: `line 5: key "data" already set in map`. */
  repeated: string[]
}

/** Parses the first document of YAML as Kubernetes does. Throws JsonSyntaxError. */
export function parseYaml(text: string): ParsedYaml {
  const parser = new YamlParser(text)
  const value = parser.document()
  return { value, duplicates: [], hasFractions: false, repeated: parser.repeated() }
}
