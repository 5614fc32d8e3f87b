import type { Field } from './hpack/static-table.ts'

const fieldName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** True for a valid field name, which is in lower case. */
export const isFieldName = (text: string): boolean => fieldName.test(text)

/** The header section of a request. */
export interface RequestHead {
  method: string
  /** The path with its query. */
  path: string
  /** Header fields by name. Repeated fields are joined with commas. */
  headers: ReadonlyMap<string, string>
}

const aboutConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
/** A field value has no line breaks, no NUL, and no leading or trailing whitespace (RFC 9113, section 8.2.1). */
// oxlint-disable-next-line no-control-regex
const isValue = /^(?:[^\0\r\n\t ](?:[^\0\r\n]*[^\0\r\n\t ])?)?$/

/** Parses header fields. Undefined for a malformed request (RFC 9113, section 8.1.1). */
export function requestHead(fields: readonly Field[]): RequestHead | undefined {
  const pseudo: Record<':method' | ':path' | ':scheme' | ':authority', string | undefined> = {
    ':method': undefined,
    ':path': undefined,
    ':scheme': undefined,
    ':authority': undefined,
  }
  const headers = new Map<string, string>()
  for (const { name, value } of fields) {
    if (!isValue.test(value)) return undefined
    if (name.startsWith(':')) {
      if (headers.size > 0 || !Object.hasOwn(pseudo, name) || pseudo[name as keyof typeof pseudo] !== undefined)
        return undefined
      pseudo[name as keyof typeof pseudo] = value
      continue
    }
    if (!isFieldName(name) || aboutConnection.has(name) || (name === 'te' && value !== 'trailers')) return undefined
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  const { ':method': method, ':path': path, ':scheme': scheme, ':authority': authority } = pseudo
  if (!method || !path || !scheme) return undefined
  if (authority !== undefined && !headers.has('host')) headers.set('host', authority)
  return { method, path, headers }
}
