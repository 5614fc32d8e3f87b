/** A document that is answered whole: discovery, OpenAPI. */
export interface DocumentAnswer {
  code: 200 | 301 | 304
  headers: Record<string, string>
  body: Buffer
}

/** What of a request decides how a document is answered. */
export interface DocumentRequest {
  method: string
  /** Before the query. */
  path: string
  query?: URLSearchParams
  accept?: string
  ifNoneMatch?: string
}

const empty = Buffer.alloc(0)

/** The document, or only the news that the client's copy is good. `etag` is without quotes. */
export function answerWithTag(request: DocumentRequest, body: Buffer, etag: string, headers: Record<string, string>): DocumentAnswer {
  const quoted = `"${etag}"`
  const all = { etag: quoted, vary: 'Accept', ...headers }
  if (request.ifNoneMatch === quoted) return { code: 304, headers: all, body: empty }
  return { code: 200, headers: all, body }
}
