import { isFieldName } from './field-rules.ts'
import type { Field } from './hpack/static-table.ts'

/** The beginning of a request, as a server sees it. */
export interface RequestHead {
  method: string
  /** With the query. */
  path: string
  /** By name; what came several times is one text, with commas. */
  headers: ReadonlyMap<string, string>
}

const aboutConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
/** No line breaks and no zero bytes, which mean something else further on, and no spaces around. */
// oxlint-disable-next-line no-control-regex
const isValue = /^(?:[^\0\r\n\t ](?:[^\0\r\n]*[^\0\r\n\t ])?)?$/

/** Undefined for a request that is none, by RFC 9113, section 8. */
export function requestHead(fields: readonly Field[]): RequestHead | undefined {
  const pseudo: Record<':method' | ':path' | ':scheme' | ':authority', string | undefined> = { ':method': undefined, ':path': undefined, ':scheme': undefined, ':authority': undefined }
  const headers = new Map<string, string>()
  for (const { name, value } of fields) {
    if (!isValue.test(value)) return undefined
    if (name.startsWith(':')) {
      if (headers.size > 0 || !Object.hasOwn(pseudo, name) || pseudo[name as keyof typeof pseudo] !== undefined) return undefined
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
