import { methodNotAllowed, notFoundPath } from '../../../api/errors.ts'

/** A response in one piece: discovery, OpenAPI. */
export interface DocumentAnswer {
  code: 200 | 301 | 304
  headers: Record<string, string>
  body: Buffer
}

/** The parts of a request that determine a document. */
export interface DocumentRequest {
  method: string
  /** Without the query. */
  path: string
  query?: URLSearchParams
  accept?: string
  ifNoneMatch?: string
}

const empty = Buffer.alloc(0)

/** The document, or 304 if the client's copy is current. `etag` has no quotes. */
export function answerWithTag(
  request: DocumentRequest,
  body: Buffer,
  etag: string,
  headers: Record<string, string>,
): DocumentAnswer {
  const quoted = `"${etag}"`
  const all = { etag: quoted, vary: 'Accept', ...headers }
  if (request.ifNoneMatch === quoted) return { code: 304, headers: all, body: empty }
  return { code: 200, headers: all, body }
}

/**
 * Handles a single-document path as Kubernetes' router handles /version: GET with or without a trailing slash, 405 for
 * other methods, 404 below it. Undefined for any other path.
 */
export function webService(
  root: string,
  request: DocumentRequest,
  document: () => DocumentAnswer,
): DocumentAnswer | undefined {
  const { path, method } = request
  if (!path.startsWith(root)) return undefined
  const rest = path.slice(root.length)
  if (rest !== '' && !rest.startsWith('/')) return undefined
  if (rest.length > 1) throw notFoundPath()
  if (method !== 'GET') throw methodNotAllowed()
  return document()
}

/** An indented JSON document. */
export const jsonDocument = (value: object): DocumentAnswer => ({
  code: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})
