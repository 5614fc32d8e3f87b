/**
 * Validates a name: returns the errors in Kubernetes' words. `prefix` is true for a generateName, which may end in a
 * dash.
 */
export type NameRule = (name: string, prefix: boolean) => string[]

const dns1123Label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const dns1123Subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const dns1035Label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const qualifiedName = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/
const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/
const configMapKey = /^[-._a-zA-Z0-9]+$/

/** Length in bytes, as Go counts. */
export const byteLength = (text: string) => Buffer.byteLength(text)

/** `must be no more than 63 characters`; labels' rules count in bytes. */
export const maxLengthMessage = (max: number, unit: 'characters' | 'bytes' = 'characters') =>
  `must be no more than ${max} ${unit}`

/** The end of Kubernetes' messages about patterns: examples and the pattern. */
export function regexMessage(sentence: string, pattern: string, ...examples: string[]): string {
  if (examples.length === 0) return `${sentence} (regex used for validation is '${pattern}')`
  // Two spaces before every "or": that is how Kubernetes joins them.
  return `${sentence} (e.g. ${examples.map((e) => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`
}

const dns1123LabelMessage = regexMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  '[a-z0-9]([-a-z0-9]*[a-z0-9])?',
  'my-name',
  '123-abc',
)

const dns1123SubdomainMessage = regexMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*',
  'example.com',
)

const dns1035LabelMessage = regexMessage(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  '[a-z]([-a-z0-9]*[a-z0-9])?',
  'my-name',
  'abc-123',
)

const qualifiedNameMessage = regexMessage(
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]',
  'MyName',
  'my.name',
  '123-abc',
)

const labelValueMessage = regexMessage(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?',
  'MyValue',
  'my_value',
  '12345',
)

function lengthAndPattern(
  max: number,
  pattern: RegExp,
  message: string,
  unit?: 'characters' | 'bytes',
): (text: string) => string[] {
  return (text) => {
    const problems: string[] = []
    if (byteLength(text) > max) problems.push(maxLengthMessage(max, unit))
    if (!pattern.test(text)) problems.push(message)
    return problems
  }
}

/** For a dotted name, the error says why it is not a single label. */
export function isDns1123Label(text: string): string[] {
  const problems = byteLength(text) > 63 ? [maxLengthMessage(63)] : []
  if (!dns1123Label.test(text))
    problems.push(dns1123Subdomain.test(text) ? 'must not contain dots' : dns1123LabelMessage)
  return problems
}

export const isDns1123Subdomain = lengthAndPattern(253, dns1123Subdomain, dns1123SubdomainMessage)
export const isDns1035Label = lengthAndPattern(63, dns1035Label, dns1035LabelMessage)
export const isLabelValue = lengthAndPattern(63, labelValue, labelValueMessage, 'bytes')

const wildcardDns1123SubdomainMessage = regexMessage(
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*',
  '*.example.com',
)

export const isWildcardDns1123Subdomain = lengthAndPattern(
  253,
  /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  wildcardDns1123SubdomainMessage,
)

const isPrefix = lengthAndPattern(253, dns1123Subdomain, dns1123SubdomainMessage, 'bytes')

function prefixedName(text: string, called: string): string[] {
  const problems: string[] = []
  const parts = text.split('/')
  if (parts.length > 2) {
    const sentence = regexMessage(
      `${called} must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
      '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]',
      'MyName',
      'my.name',
      '123-abc',
    )
    return [`${sentence} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const name = parts.at(-1)!
  if (parts.length === 2) {
    if (parts[0] === '') problems.push('prefix part must be non-empty')
    else problems.push(...isPrefix(parts[0]!).map((p) => `prefix part ${p}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (byteLength(name) > 63) problems.push(`name part ${maxLengthMessage(63, 'bytes')}`)
  if (!qualifiedName.test(name)) problems.push(qualifiedNameMessage)
  return problems
}

/** A qualified name such as a finalizer or resource name: `name` or `example.com/name`. */
export const isQualifiedName = (text: string): string[] => prefixedName(text, 'a qualified name')

/** The key of a label or annotation. */
export const isLabelKey = (text: string): string[] => prefixedName(text, 'a valid label key')

/** `.` and `..` are special in file names. */
function dotProblems(text: string): string[] {
  if (text === '.') return ["must not be '.'"]
  if (text === '..') return ["must not be '..'"]
  if (text.startsWith('..')) return ["must not start with '..'"]
  return []
}

/** A key of a ConfigMap's or Secret's data. */
export function isConfigMapKey(text: string): string[] {
  const problems: string[] = []
  if (byteLength(text) > 253) problems.push(maxLengthMessage(253))
  if (!configMapKey.test(text)) {
    problems.push(
      regexMessage(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        '[-._a-zA-Z0-9]+',
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    )
  }
  return [...problems, ...dotProblems(text)]
}

export const isPortNumber = (port: number): string[] =>
  port >= 1 && port <= 65535 ? [] : ['must be between 1 and 65535, inclusive']

/** A port's name: at most 15 of a-z, 0-9 and single dashes, with at least one letter. */
export function isPortName(text: string): string[] {
  const problems: string[] = []
  if (text.length > 15) problems.push(maxLengthMessage(15))
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)')
  if (text.includes('--')) problems.push('must not contain consecutive hyphens')
  if (text.length > 0 && (text.startsWith('-') || text.endsWith('-')))
    problems.push('must not begin or end with a hyphen')
  return problems
}

/** A segment of a URL path. */
export function isPathSegment(name: string, prefix: boolean): string[] {
  if (!prefix && (name === '.' || name === '..')) return [`may not be '${name}'`]
  const problems: string[] = []
  for (const illegal of ['/', '%']) if (name.includes(illegal)) problems.push(`may not contain '${illegal}'`)
  return problems
}

/** A generateName may end in a dash, since a suffix follows. */
const unmaskTrailingDash = (name: string) => (name.length > 1 && name.endsWith('-') ? `${name.slice(0, -1)}a` : name)

const maskable =
  (rule: (name: string) => string[]): NameRule =>
  (name, prefix) =>
    rule(prefix ? unmaskTrailingDash(name) : name)

/** The rule for most kinds. */
export const subdomainName: NameRule = maskable(isDns1123Subdomain)
/** The rule for namespaces and pods' host names. */
export const labelName: NameRule = maskable(isDns1123Label)
/** The rule for Services in older releases. */
export const dns1035Name: NameRule = maskable(isDns1035Label)
/** The rule for RBAC kinds: any path segment. */
export const pathSegmentName: NameRule = isPathSegment
