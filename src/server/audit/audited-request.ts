import { type Status, internalError } from '../../api/errors.ts'
import { jsonText, readJson } from '../../api/json/index.ts'
import type { Json, KubeObject } from '../../api/object.ts'
import type { UserInfo } from '../objects/objects.ts'
import type { RequestBody } from '../requests/request.ts'
import type { What } from '../requests/resolve.ts'
import type { Clock } from '../../base/clock.ts'
import { AuditEvent, type ObjectReference, type ResponseStatus, originText } from './event.ts'
import type { Attributes, PolicyMatcher, Recording, RequestedResource } from './policy-match.ts'
import type { Stage } from './policy.ts'

/** The facts of a request when it arrives. */
export interface Arrival {
  id: string
  method: string
  uri: string
  /** The part of the URI before the query. */
  path: string
  /** Undefined for a non-resource path. */
  what: What | undefined
  startedMs: number
  sourceIPs(): readonly string[]
  userAgent(): string | undefined
  /** The authentication methods that the client tried. Called only if authentication failed. */
  attempted?(): readonly string[]
}

/** Subresources whose responses may run as long as a watch. */
const longSubresources = new Set(['attach', 'exec', 'log', 'portforward', 'proxy'])

/** The destination of a request's events; `Auditor` implements it. */
export interface EventRecorder {
  readonly matcher: PolicyMatcher
  readonly clock: Clock
  /** Returns a promise if the request must wait for a backend. The request is rejected if it resolves to false. */
  take(event: AuditEvent): Promise<boolean> | undefined
  countLevel(level: string): void
  countRejected(): void
}

/** The audit state of one request. It emits an event for each stage that the policy records. */
export class AuditedRequest {
  readonly #recorder: EventRecorder
  readonly #arrival: Arrival
  readonly #attributes: Attributes
  /** Undefined before authentication, and if the policy records nothing about the request. */
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

  constructor(recorder: EventRecorder, arrival: Arrival) {
    this.#recorder = recorder
    this.#arrival = arrival
    const { what, method, path } = arrival
    const verb = what ? what.verb : method.toLowerCase()
    this.#attributes = { user: undefined, verb, path, resource: what && requestedResource(what) }
  }

  /** True if the policy records request bodies. */
  get wantsRequest(): boolean {
    return this.#recording?.level === 'Request' || this.wantsResponse
  }

  /** True if the policy records response bodies as well. */
  get wantsResponse(): boolean {
    return this.#recording?.level === 'RequestResponse'
  }

  /**
   * Called after authentication. Returns a promise only if a backend must store the event first; it rejects if a
   * `blocking-strict` backend fails.
   */
  identified(user: UserInfo): Promise<void> | undefined {
    this.#isIdentified = true
    if (!this.#choose(user)) return undefined
    const stored = this.#emit('RequestReceived')
    return stored?.then((isStored) => {
      if (isStored) return
      this.#recorder.countRejected()
      this.#recording = undefined
      throw internalError('failed to store audit event')
    })
  }

  /** Called if the request impersonates another user. */
  actsAs(user: UserInfo): void {
    if (!this.#recording || user === this.#attributes.user) return
    this.#impersonated = user
    this.#origin = undefined
  }

  /** Adds an annotation to all later events. The first value of a key is kept. */
  note(key: string, value: string): void {
    if (!this.#recording) return
    this.#annotations ??= new Map()
    if (!this.#annotations.has(key)) this.#annotations.set(key, value)
  }

  /** Returns the body for its reader. The object in it is recorded once it is decoded. */
  body(method: string, body: RequestBody): RequestBody {
    if (!this.#recording || method === 'GET') return body
    // Patches and DeleteOptions are recorded as the client sent them.
    if ((method === 'PATCH' || method === 'DELETE') && this.wantsRequest) this.#requestObject = compactJson(body.bytes)
    return method === 'POST' || method === 'PUT' ? { ...body, heard: (object) => this.#sent(object) } : body
  }

  /** Records the response body, which is JSON. */
  answered(text: string): void {
    if (this.wantsResponse)
      this.#responseObject = this.#recording!.omitManagedFields ? withoutManagedFields(text) : text.trimEnd()
  }

  /** Records a Status response, such as an error. */
  answeredStatus({ code = 200, status, message, reason, details }: Status): void {
    if (!this.#recording) return
    this.#response = { code, status, message, reason, details }
  }

  /** Called when the headers of a long-running response have been sent. */
  started(code: number): void {
    if (!this.#recording) return
    this.#response ??= { code }
    void this.#emit('ResponseStarted')
  }

  /** Called at the end of the response. Only the first call has an effect. */
  done(code: number): void {
    if (this.#isDone) return
    this.#isDone = true
    if (!this.#isIdentified) return this.#unauthenticated(code)
    if (!this.#recording) return
    this.#response ??= { code }
    void this.#emit('ResponseComplete')
  }

  /** Called if the request failed because of a defect of the server. */
  panicked(error: unknown): void {
    if (this.#isDone || !this.#recording) return
    this.#isDone = true
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`
    this.#response = { code: 500, status: 'Failure', reason: 'InternalError', message }
    void this.#emit('Panic')
  }

  /** True if the response may run as long as a watch. */
  get isLongRunning(): boolean {
    const { verb, resource } = this.#attributes
    return verb === 'watch' || longSubresources.has(resource?.subresource ?? '')
  }

  #choose(user: UserInfo | undefined): boolean {
    this.#attributes.user = user
    const recording = this.#recorder.matcher.recordingOf(this.#attributes)
    this.#recorder.countLevel(recording.level)
    if (recording.level === 'None') return false
    this.#recording = recording
    this.#object = this.#attributes.resource
    return true
  }

  /** As in Kubernetes, a request that fails authentication has a single event. */
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
      stage === 'RequestReceived' ? startedMs : this.#recorder.clock.now(),
    )
    return this.#recorder.take(event)
  }
}

/** As in Kubernetes, the namespace of a Namespace object is its own name. */
function requestedResource({ path }: What): RequestedResource {
  const { group, version, plural, subresource, name } = path
  const namespace = group === '' && plural === 'namespaces' ? name : path.namespace
  return { group, version, namespace, plural, subresource, name }
}

/** The JSON on one line; undefined for text that is not JSON. */
function compactJson(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return undefined
  try {
    return jsonText(readJson(bytes.toString()))
  } catch {
    // The request is rejected, and the event has that response.
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
