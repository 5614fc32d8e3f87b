import { jsonText } from '../../../api/json/index.ts'

/** Strings that need quotes, because they would be read as null, booleans, numbers, timestamps or the merge key. */
const ambiguous = new RegExp(
  [
    '|~|null|Null|NULL',
    'y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE',
    '[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])*)',
    '[-+]?(\\.[0-9]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\\.[0-9_]*)?)([eE][-+]?[0-9]+)?',
    '[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)',
    '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?',
    '<<|=',
  ]
    .map((one) => `^(${one})$`)
    .join('|'),
)

/** Loads the YAML writer, in Kubernetes' style: sorted keys, unindented lists, unwrapped lines. */
export async function yamlWriter(): Promise<(value: unknown) => string> {
  const { Document, visit } = await import('yaml')
  return (value) => {
    // YAML 1.1 quotes strings such as "yes" and "on", which older readers take for booleans.
    const document = new Document(value, { version: '1.1', sortMapEntries: true, aliasDuplicateObjects: false })
    visit(document, {
      Scalar: (_, node) => {
        if (typeof node.value === 'string' && ambiguous.test(node.value)) node.type = 'QUOTE_DOUBLE'
      },
    })
    return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
  }
}

/** Writes a value as YAML, on the event loop or elsewhere. */
export type WriteYaml = (value: object) => string | Promise<string>

let loaded: ((value: unknown) => string) | undefined

/** The YAML of a value; synchronous once the library is loaded. */
export const yamlText = (value: unknown): string | Promise<string> =>
  loaded ? loaded(value) : yamlWriter().then((writer) => (loaded = writer)(value))

/** The size of a value in JSON from which a thread writes its YAML. */
const longAnswer = 1 << 14

/** The YAML of a value, of a long one by a thread. */
export async function yamlElsewhere(
  value: object,
  convert: (json: Buffer) => Promise<{ kind: string; text?: Uint8Array }>,
): Promise<string> {
  const json = jsonText(value)
  if (json.length <= longAnswer) return yamlText(value)
  const { text } = await convert(Buffer.from(json))
  return Buffer.from(text!.buffer, text!.byteOffset, text!.byteLength).toString()
}
