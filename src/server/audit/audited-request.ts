import { type Status, internalError } from '../../api/errors.ts'
import { jsonText, readJson } from '../../api/json/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { RequestBody } from '../requests/request.ts'
import type { What } from '../requests/resolve.ts'
import type { Auditor } from './auditor.ts'
import { AuditEvent, type ObjectReference, type ResponseStatus, originText } from './event.ts'
import type { Attributes, Recording, RequestedResource } from './policy-match.ts'
import type { Stage } from './policy.ts'

/** A request as it comes in. */
export interface Arrival {
  id: string
  method: string
  uri: string
  /** The part of the URI before the query. */
  path: string
  /** Undefined for what is no resource. */
  what: What | undefined
  startedMs: number
  sourceIPs(): readonly string[]
  userAgent(): string | undefined
  /** The ways of authentication that the client tried; only asked for if they failed. */
  attempted?(): readonly string[]
}

/** Subresources whose answers may take as long as a watch. */
const longSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** One request on its way through the server: it makes an event of each stage that the policy records. */
export class AuditedRequest {
  readonly #auditor: Auditor
  readonly #arrival: Arrival
  readonly #attributes: Attributes
  /** Undefined before it is known who sends the request, and where nothing is recorded of it. */
  #recording: Recording | undefined
  #isIdentified = false
  #isDone = false
  #impersonated: UserInfo | undefined
  #origin: string | undefined
  #object: ObjectReference | undefined
  #requestObject: string | undefined
  #responseObject: string | undefined
  #response: ResponseStatus | undefined
  #annotations: Map<string, string> | undefined

  constructor(auditor: Auditor, arrival: Arrival) {
    this.#auditor = auditor
    this.#arrival = arrival
    const { what, method, path } = arrival
    const verb = what ? what.verb : method.toLowerCase()
    this.#attributes = { user: undefined, verb, path, resource: what && requestedResource(what) }
  }

  /** Bodies of requests are recorded. */
  get wantsRequest(): boolean {
    return this.#recording?.level === 'Request' || this.wantsResponse
  }

  /** Bodies of answers are recorded, too. */
  get wantsResponse(): boolean {
    return this.#recording?.level === 'RequestResponse'
  }

  /** It is known who sends the request. Waits only where a backend asks for it; rejects if a strict one fails. */
  identified(user: UserInfo): Promise<void> | undefined {
    this.#isIdentified = true
    if (!this.#choose(user)) return undefined
    const stored = this.#emit('RequestReceived')
    return stored?.then((isStored) => {
      if (isStored) return
      this.#auditor.countRejected()
      this.#recording = undefined
      throw internalError('failed to store audit event')
    })
  }

  /** The request is taken as somebody else's. */
  actsAs(user: UserInfo): void {
    if (!this.#recording || user === this.#attributes.user) return
    this.#impersonated = user
    this.#origin = undefined
  }

  /** Adds an annotation to all events that follow. The first value of a key stays. */
  note(key: string, value: string): void {
    if (!this.#recording) return
    this.#annotations ??= new Map()
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  /** The body as its reader gets it: the object in it is heard of once it is decoded. */
  body(method: string, body: RequestBody): RequestBody {
    if (!this.#recording || method === 'GET') return body
    // Patches and options are recorded as they were sent.
    if ((method === 'PATCH' || method === 'DELETE') && this.wantsRequest) this.#requestObject = compactJson(body.bytes)
    return method === 'POST' || method === 'PUT' ? { ...body, heard: (object) => this.#sent(object) } : body
  }

  /** The text of the answer's body, in JSON. */
  answered(text: string): void {
    if (this.wantsResponse)
      this.#responseObject = this.#recording!.omitManagedFields ? withoutManagedFields(text) : text.trimEnd()
  }

  /** The answer is an error, or another Status. */
  answeredStatus({ code = 200, status, message, reason, details }: Status): void {
    if (!this.#recording) return
    this.#response = { code, status, message, reason, details }
  }

  /** The headers of an answer without end have been sent. */
  started(code: number): void {
    if (!this.#recording) return
    this.#response ??= { code }
    void this.#emit('ResponseStarted')
  }

  /** Nothing more will be sent. Only the first call counts. */
  done(code: number): void {
    if (this.#isDone) return
    this.#isDone = true
    if (!this.#isIdentified) return this.#unauthenticated(code)
    if (!this.#recording) return
    this.#response ??= { code }
    void this.#emit('ResponseComplete')
  }

  /** The request failed in a way that is the server's fault. */
  panicked(error: unknown): void {
    if (this.#isDone || !this.#recording) return
    this.#isDone = true
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`
    this.#response = { code: 500, status: 'Failure', reason: 'InternalError', message }
    void this.#emit('Panic')
  }

  /** True if the answer may go on as long as a watch. */
  get isLongRunning(): boolean {
    const { verb, resource } = this.#attributes
    return verb === 'watch' || longSubresources.has(resource?.subresource ?? '')
  }

  #choose(user: UserInfo | undefined): boolean {
    this.#attributes.user = user
    const recording = this.#auditor.matcher.recordingOf(this.#attributes)
    this.#auditor.countLevel(recording.level)
    if (recording.level === 'None') return false
    this.#recording = recording
    this.#object = this.#attributes.resource
    return true
  }

  /** As in Kubernetes, a request that fails authentication has one event alone. */
  #unauthenticated(code: number): void {
    if (!this.#choose(undefined)) return
    const attempted = this.#arrival.attempted?.() ?? []
    const why = attempted.length > 0 ? `attempted: ${attempted.join(', ')}` : 'no credentials provided'
    this.#response = { code, status: 'Failure', message: `Authentication failed, ${why}`, reason: 'Unauthorized' }
    void this.#emit('ResponseStarted')
  }

  #sent(object: KubeObject): void {
    const { name, namespace, uid, resourceVersion, managedFields, ...metadata } = object.metadata ?? {}
    const known = this.#object
    if (known) {
      const { name: asked, namespace: where } = known
      this.#object = {
        ...known,
        name: asked || (name ?? ''),
        namespace: where || (namespace ?? ''),
        uid,
        resourceVersion,
      }
    }
    if (!this.wantsRequest) return
    const omits = managedFields !== undefined && this.#recording!.omitManagedFields
    this.#requestObject = jsonText(
      omits ? { ...object, metadata: { name, namespace, uid, resourceVersion, ...metadata } } : object,
    )
  }

  #emit(stage: Stage): Promise<boolean> | undefined {
    const { omitStages, level } = this.#recording!
    if (omitStages.has(stage)) return undefined
    const { id, uri, startedMs, sourceIPs, userAgent } = this.#arrival
    const { user, verb } = this.#attributes
    this.#origin ??= originText({
      uri,
      verb,
      user,
      impersonated: this.#impersonated,
      sourceIPs: sourceIPs(),
      userAgent: userAgent(),
    })
    const event = new AuditEvent(
      {
        level,
        id,
        origin: this.#origin,
        object: this.#object,
        response: this.#response,
        requestObject: this.#requestObject,
        responseObject: this.#responseObject,
        receivedMs: startedMs,
        annotations: this.#annotations,
      },
      stage,
      stage === 'RequestReceived' ? startedMs : this.#auditor.clock.now(),
    )
    return this.#auditor.take(event)
  }
}

/** Kubernetes takes a namespace to be in itself. */
function requestedResource({ path }: What): RequestedResource {
  const { group, version, plural, subresource, name } = path
  const namespace = group === '' && plural === 'namespaces' ? name : path.namespace
  return { group, version, namespace, plural, subresource, name }
}

/** JSON in one line; undefined for what is no JSON. */
function compactJson(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined
  try {
    return jsonText(readJson(bytes.toString()))
  } catch {
    // A body that cannot be read is refused, and the event says so.
    return undefined
  }
}

function withoutManagedFields(text: string): string {
  if (!text.includes('"managedFields"')) return text.trimEnd()
  const value = readJson(text) as Record<string, Json>
  const each = (list: Json | undefined, of: (item: Record<string, Json>) => Json | undefined) => {
    if (Array.isArray(list)) for (const item of list) dropManagedFields(of(item as Record<string, Json>))
  }
  dropManagedFields(value)
  each(value.items, (item) => item)
  each(value.rows, (row) => row.object)
  return jsonText(value)
}

function dropManagedFields(object: Json | undefined): void {
  const metadata = (object as { metadata?: { managedFields?: unknown } } | undefined)?.metadata
  if (metadata) delete metadata.managedFields
}
