import { isIP } from 'node:net'
import type { StatusDetails } from '../../api/errors.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { RequestedResource } from './policy-match.ts'
import type { Level, Stage } from './policy.ts'
import { microTime } from '../../api/object.ts'

/** The `objectRef` of an event. */
export interface ObjectReference extends RequestedResource {
  uid?: string | undefined
  resourceVersion?: string | undefined
}

/** The `responseStatus` of an event. A success has the code only. */
export interface ResponseStatus {
  code: number
  status?: string | undefined
  message?: string | undefined
  reason?: string | undefined
  details?: StatusDetails | undefined
}

/** The parts of an event that are the same at every stage of a request. Objects are JSON on one line. */
export interface EventParts {
  level: Level
  id: string
  /** The members from requestURI to userAgent, as `originText` returns them. */
  origin: string
  object: ObjectReference | undefined
  response: ResponseStatus | undefined
  requestObject: string | undefined
  responseObject: string | undefined
  receivedMs: number
  annotations: ReadonlyMap<string, string> | undefined
}

const truncated = 'audit.k8s.io/truncated'

/** One audit event of one stage: an audit.k8s.io/v1 Event as one line of JSON. */
export class AuditEvent {
  /** Has no trailing newline. */
  readonly text: string
  readonly #head: string
  readonly #tail: string
  readonly #annotations: ReadonlyMap<string, string> | undefined

  constructor(parts: EventParts, stage: Stage, stageMs: number) {
    const { level, id, origin, object, response, requestObject, responseObject, annotations } = parts
    this.#head =
      `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${level}","auditID":${JSON.stringify(id)},` +
      `"stage":"${stage}",${origin}` +
      (object ? `,"objectRef":${objectText(object)}` : '') +
      (response ? `,"responseStatus":${statusText(response)}` : '')
    this.#tail = `,"requestReceivedTimestamp":"${microTime(parts.receivedMs)}","stageTimestamp":"${microTime(stageMs)}"`
    this.#annotations = annotations
    this.text =
      this.#head +
      (requestObject ? `,"requestObject":${requestObject}` : '') +
      (responseObject ? `,"responseObject":${responseObject}` : '') +
      this.#tail +
      (annotations ? `,"annotations":${mapText(annotations)}}` : '}')
  }

  /** The event without request and response objects, annotated as truncated. */
  get truncatedText(): string {
    const annotations = new Map([...(this.#annotations ?? []), [truncated, 'true']])
    return `${this.#head}${this.#tail},"annotations":${mapText(annotations)}}`
  }
}

const mapText = (map: ReadonlyMap<string, string>): string => JSON.stringify(Object.fromEntries(map))

const member = (name: string, value: string | undefined): string => (value ? `,"${name}":${JSON.stringify(value)}` : '')

function objectText({
  plural,
  namespace,
  name,
  uid,
  group,
  version,
  resourceVersion,
  subresource,
}: ObjectReference): string {
  return (
    `{"resource":${JSON.stringify(plural)}${member('namespace', namespace)}${member('name', name)}` +
    `${member('uid', uid)}${member('apiGroup', group)}${member('apiVersion', version)}${member('resourceVersion', resourceVersion)}` +
    `${member('subresource', subresource)}}`
  )
}

function statusText({ code, status, message, reason, details }: ResponseStatus): string {
  const said = member('status', status) + member('message', message) + member('reason', reason)
  return `{"metadata":{}${said}${details ? `,"details":${JSON.stringify(details)}` : ''},"code":${code}}`
}

/** The client of a request: user, addresses and user agent. */
interface Origin {
  uri: string
  verb: string
  user: UserInfo | undefined
  impersonated: UserInfo | undefined
  sourceIPs: readonly string[]
  userAgent: string | undefined
}

const longestUserAgent = 1024

/** The members of an event from requestURI to userAgent. */
export function originText({ uri, verb, user, impersonated, sourceIPs, userAgent = '' }: Origin): string {
  const agent = userAgent.length > longestUserAgent ? `${userAgent.slice(0, longestUserAgent)}...TRUNCATED` : userAgent
  return (
    `"requestURI":${JSON.stringify(uri)},"verb":${JSON.stringify(verb)},"user":${userText(user)}` +
    (impersonated ? `,"impersonatedUser":${userText(impersonated)}` : '') +
    (sourceIPs.length > 0 ? `,"sourceIPs":${JSON.stringify(sourceIPs)}` : '') +
    member('userAgent', agent)
  )
}

function userText(user: UserInfo | undefined): string {
  if (!user) return '{}'
  const { name, uid, groups, extra } = user
  const more = extra && Object.keys(extra).length > 0 ? `,"extra":${JSON.stringify(extra)}` : ''
  const listed = groups.length > 0 ? `,"groups":${JSON.stringify(groups)}` : ''
  return `{"username":${JSON.stringify(name)}${member('uid', uid)}${listed}${more}}`
}

/** The source addresses: those that proxies name in headers, then the peer of the connection. */
export function sourceIPs(header: (name: string) => string | undefined, remote: string | undefined): string[] {
  const forwarded = header('x-forwarded-for')
  const ips = forwarded
    ? forwarded
        .split(',')
        .map(plainIp)
        .filter((ip) => ip !== undefined)
    : []
  const real = plainIp(header('x-real-ip'))
  if (real !== undefined && !ips.includes(real)) ips.push(real)
  const last = plainIp(remote)
  if (last !== undefined && last !== ips.at(-1)) ips.push(last)
  return ips
}

function plainIp(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const ip = text.trim().replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(ip) > 0 ? ip : undefined
}
