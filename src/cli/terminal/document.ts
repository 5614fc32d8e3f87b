import { jsonText } from '../../api/json/index.ts'
import { yamlText } from '../../insight/yaml-text.ts'
import type { Output } from './output.ts'

/** Output formats besides a table. */
export type DocumentForm = 'json' | 'yaml'

/** Writes a value as kubectl does: JSON indented by four spaces, or YAML. */
export async function writeDocument(output: Output, form: DocumentForm, value: unknown): Promise<void> {
  if (form === 'json') return output.write(`${jsonText(value, 4)}\n`)
  output.write(await yamlText(value))
}
