import type { Status } from '../../api/errors.ts'
import { JsonSyntaxError, parseJson, readJson } from '../../api/json/index.ts'

/** A webhook could not be asked, or has answered nonsense. The message is what Kubernetes would say. */
export class WebhookCallError extends Error {
  /** The code of the answer; 0 where there was none. */
  readonly code: number

  constructor(message: string, code = 0, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'WebhookCallError'
    this.code = code
  }
}

/** What client-go says of an answer whose body explains nothing. */
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

/** Codes whose body says it better than any text of ours. */
const spoken = new Set([403, 406, 415])

/** Pages of gateways can be long; their beginning says enough. */
const shownCharacters = 2048

/** The message of the Status that a server has answered with, if it has. */
function statusMessage(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined
  try {
    const status = readJson(body) as Partial<Status>
    return status.kind === 'Status' ? status.message : undefined
  } catch {
    // Whatever it is, it is no Status.
    return undefined
  }
}

/** The error of an answer that is no success, in the words of client-go. */
export function answerText(code: number, body: string): string {
  const message = statusMessage(body)
  if (message) return message
  const shown = body.trim().slice(0, shownCharacters)
  if (spoken.has(code) && shown) return shown
  const known = texts[code]
  if (known) return known
  if (code >= 500) return `an error on the server (${JSON.stringify(shown)}) has prevented the request from succeeding`
  return `the server responded with the status code ${code} but did not return more information`
}

const excerpt = (text: string): string => (text.length > 30 ? `${text.slice(0, 30)} ...` : text)

/** Reads the object that a webhook has answered. It must say its version and kind. */
export function parseAnswer(text: string): Record<string, unknown> {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WebhookCallError(`couldn't get version/kind; json parse error: json: cannot unmarshal ${text.slice(0, 30)}`)
  }
  const answer = value as Record<string, unknown>
  for (const name of ['Kind', 'apiVersion'] as const) {
    const field = name === 'Kind' ? 'kind' : name
    if (!answer[field]) throw new WebhookCallError(`Object '${name}' is missing in '${excerpt(text)}'`)
  }
  return answer
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
