import { jsonText } from '../../api/json/index.ts'
import { yamlText } from '../../insight/yaml-text.ts'
import type { Output } from './output.ts'

/** The forms besides a table in which commands tell what they know. */
export type DocumentForm = 'json' | 'yaml'

/** Writes a value as kubectl would: JSON with four blanks, or YAML. */
export async function writeDocument(output: Output, form: DocumentForm, value: unknown): Promise<void> {
  if (form === 'json') return output.write(`${jsonText(value, 4)}\n`)
  output.write(await yamlText(value))
}
