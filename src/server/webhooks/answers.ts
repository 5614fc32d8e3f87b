import type { IncomingMessage } from 'node:http'
import type { Status } from '../../api/errors.ts'
import { JsonSyntaxError, parseJson, readJson } from '../../api/json/index.ts'
import { type Json, isFields } from '../../api/object.ts'
import { DecodeError, decodeObject } from '../../api/schema/index.ts'

/** A failed webhook call. The message is the one that Kubernetes gives. */
export class WebhookCallError extends Error {
  /** The status code; 0 without a response. */
  readonly code: number

  constructor(message: string, code = 0, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WebhookCallError'
    this.code = code
  }
}

/** client-go's messages for responses without a Status. */
const texts: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** Codes for which client-go quotes the body. */
const spoken = new Set([403, 406, 415])

/** Long bodies, such as error pages of gateways, are truncated. */
const shownCharacters = 2048

/** The maximum length of a response. */
const maxAnswerBytes = 16 * 1024 * 1024

/** Reads the body of a response. */
export async function readAnswer(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > maxAnswerBytes) throw new Error('http: response body too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

/** The Status in the body, if there is one. */
export function statusIn(body: string): Partial<Status> | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const status = decodeAnswer<Partial<Status>>('Status', readJson(body))
    return status.kind === 'Status' ? status : undefined
  } catch {
    // The body is not a Status.
    return undefined
  }
}

/** The error message of an unsuccessful response, in the words of client-go. */
export function answerText(code: number, body: string): string {
  const message = statusIn(body)?.message
  if (message) return message
  const shown = body.trim().slice(0, shownCharacters)
  if (spoken.has(code) && shown) return shown
  const known = texts[code]
  if (known) return known
  if (code >= 500) return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`
  return `the server responded with the status code ${code} but did not return more information`
}

const excerpt = (text: string): string => (text.length > 30 ? `${text.slice(0, 30)} ...` : text)

/** Parses the object of a webhook response, which must have apiVersion and kind. */
export function parseAnswer(text: string): Record<string, unknown> {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WebhookCallError(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${text.slice(0, 30)}`,
    )
  }
  const answer = value as Record<string, unknown>
  for (const name of ['Kind', 'apiVersion'] as const) {
    const field = name === 'Kind' ? 'kind' : name
    if (!answer[field]) throw new WebhookCallError(`Object '${name}' is missing in '${excerpt(text)}'`)
  }
  return answer
}

/**
 * Decodes an answer as a type of the schema, as Go does: a field of another type is an error, because `allowed: "false"`
 * must not count as true. Null is the same as an absent field, and unknown fields are ignored.
 */
export function decodeAnswer<T>(type: string, answer: unknown): T {
  if (!isFields(answer)) throw new WebhookCallError(`the answer is no ${type}`)
  try {
    return decodeObject(type, answer as Json, { isOwned: true }).object as T
  } catch (e) {
    if (!(e instanceof DecodeError)) throw e
    throw new WebhookCallError(e.message, 0, e)
  }
}

function parse(text: string): unknown {
  try {
    return parseJson(text).value
  } catch (e) {
    if (!(e instanceof JsonSyntaxError)) throw e
    throw new WebhookCallError(`couldn't get version/kind; json parse error: ${e.message}`, 0, e)
  }
}

/** Go's name for the type of a JSON value. */
export function goTypeOf(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
