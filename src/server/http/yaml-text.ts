/** Texts that would read as something else without quotes: nothing, yes and no, numbers, times, the merge key. */
const ambiguous = new RegExp(
  [
    '|~|null|Null|NULL',
    'y|Y|yes|Yes|YES|n|N|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE',
    '[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*(:[0-5]?[0-9])*)',
    '[-+]?(\\.[0-9]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\\.[0-9_]*)?)([eE][-+]?[0-9]+)?',
    '[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|NAN)',
    '[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?',
    '<<|=',
  ].map((one) => `^(${one})$`).join('|'),
)

/** Writes values as Kubernetes writes YAML: keys in order, lists not indented, long lines left whole. The first who asks loads the library. */
export async function yamlWriter(): Promise<(value: unknown) => string> {
  const { Document, visit } = await import('yaml')
  return (value) => {
    // YAML 1.1, because "yes" and "on" must stay strings for readers that are older than we are.
    const document = new Document(value, { version: '1.1', sortMapEntries: true, aliasDuplicateObjects: false })
    visit(document, {
      Scalar: (_, node) => {
        if (typeof node.value === 'string' && ambiguous.test(node.value)) node.type = 'QUOTE_DOUBLE'
      },
    })
    return document.toString({ indentSeq: false, lineWidth: 0, singleQuote: true })
  }
}

let loaded: ((value: unknown) => string) | undefined

/** One value in this form, at once where the library is loaded. */
export const yamlText = (value: unknown): string | Promise<string> =>
  loaded ? loaded(value) : yamlWriter().then((writer) => (loaded = writer)(value))
