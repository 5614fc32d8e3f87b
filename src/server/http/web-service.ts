import { methodNotAllowed, notFoundPath } from '../../api/errors.ts'
import type { DocumentAnswer, DocumentRequest } from './document.ts'

/**
 * Answers for a document at one path as Kubernetes' router does for /version: GET with or without a slash at the end, 405 for other
 * methods, a 404 Status below it. Undefined for any other path.
 */
export function webService(root: string, request: DocumentRequest, document: () => DocumentAnswer): DocumentAnswer | undefined {
  const { path, method } = request
  if (!path.startsWith(root)) return undefined
  const rest = path.slice(root.length)
  if (rest !== '' && !rest.startsWith('/')) return undefined
  if (rest.length > 1) throw notFoundPath()
  if (method !== 'GET') throw methodNotAllowed()
  return document()
}

/** A document in JSON, indented. */
export const jsonDocument = (value: object): DocumentAnswer => ({
  code: 200,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
})
