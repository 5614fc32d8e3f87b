import type { FieldError } from './validation/field-error.ts'

/** Kubernetes' machine-readable reasons, as they stand in `Status.reason`. */
export type StatusReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Expired'
  | 'Invalid'
  | 'Timeout'
  | 'ServerTimeout'
  | 'TooManyRequests'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'UnsupportedMediaType'
  | 'RequestEntityTooLarge'
  | 'InternalError'
  | 'ServiceUnavailable'

export interface StatusCause {
  reason?: string
  message?: string
  field?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The wire form of every failed request. */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  status?: 'Failure' | 'Success'
  message?: string
  reason?: StatusReason | ''
  details?: StatusDetails
  code?: number
}

/** The object that an error is about. `resource` is the plural name. */
export interface GroupResource {
  group: string
  resource: string
}

export interface GroupKind {
  group: string
  kind: string
}

/** An error of the API: code, reason and details as Kubernetes clients know them. */
export class ApiError extends Error {
  readonly code: number
  readonly reason: StatusReason | ''
  readonly details: StatusDetails | undefined
  /** The token with which a list may continue after its own one expired. */
  readonly metadata: Status['metadata']

  constructor(
    code: number,
    reason: StatusReason | '',
    message: string,
    details?: StatusDetails,
    metadata: Status['metadata'] = {},
  ) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.reason = reason
    this.details = details
    this.metadata = metadata
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.metadata,
      status: 'Failure',
      message: this.message,
      ...(this.reason ? { reason: this.reason } : {}),
      ...(this.details ? { details: this.details } : {}),
      code: this.code,
    }
  }
}

const dotted = (name: string, group: string) => (group ? `${name}.${group}` : name)

const about = (gr: GroupResource, name: string): StatusDetails => ({
  ...(name ? { name } : {}),
  ...(gr.group ? { group: gr.group } : {}),
  ...(gr.resource ? { kind: gr.resource } : {}),
})

export const badRequest = (message: string) => new ApiError(400, 'BadRequest', message)

export const unauthorized = () => new ApiError(401, 'Unauthorized', 'Unauthorized')

export const forbiddenError = (gr: GroupResource, name: string, why: string) =>
  new ApiError(
    403,
    'Forbidden',
    gr.resource
      ? `${dotted(gr.resource, gr.group)}${name ? ` ${JSON.stringify(name)}` : ''} is forbidden: ${why}`
      : `forbidden: ${why}`,
    about(gr, name),
  )

export const notFound = (gr: GroupResource, name: string) =>
  new ApiError(404, 'NotFound', `${dotted(gr.resource, gr.group)} ${JSON.stringify(name)} not found`, about(gr, name))

/** The path itself is unknown, as opposed to the object it names. */
export const notFoundPath = () => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})

export const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

export const alreadyExists = (gr: GroupResource, name: string) =>
  new ApiError(
    409,
    'AlreadyExists',
    `${dotted(gr.resource, gr.group)} ${JSON.stringify(name)} already exists`,
    about(gr, name),
  )

export const conflict = (gr: GroupResource, name: string, why: string) =>
  new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${dotted(gr.resource, gr.group)} ${JSON.stringify(name)}: ${why}`,
    about(gr, name),
  )

/** The conflict for a write that is based on an older version than the stored one. */
export const conflictModified = (gr: GroupResource, name: string) =>
  conflict(gr, name, 'the object has been modified; please apply your changes to the latest version and try again')

/** The requested revision is compacted. The client must list again. */
export const expired = (message: string, metadata?: Status['metadata']) =>
  new ApiError(410, 'Expired', message, undefined, metadata)

/** The limit for the text of an error. A response must not be a hundred times as long as its request. */
const maxErrorsTold = 1000
const maxErrorText = 1 << 20

/** The first errors as text, up to the limit. Each of them may quote a long list. */
function wordsOf(all: readonly FieldError[]): { reason: string; field: string; message: string }[] {
  const told: { reason: string; field: string; message: string }[] = []
  let length = 0
  for (let i = 0; i < all.length && i < maxErrorsTold && length < maxErrorText; i++) {
    const { reason, field, message } = all[i]!
    length += field.length + message.length
    told.push({ reason, field, message })
  }
  return told
}

export const invalidObject = (gk: GroupKind, name: string, all: readonly FieldError[]) => {
  const errors = wordsOf(all)
  // Duplicate errors are omitted from the sentence, but not from the causes.
  const lines = [...new Set(errors.map((e) => `${e.field}: ${e.message}`))]
  const more = all.length > errors.length ? [`and ${all.length - errors.length} more`] : []
  const text = lines.length + more.length === 1 ? lines[0] : `[${[...lines, ...more].join(', ')}]`
  return new ApiError(422, 'Invalid', `${dotted(gk.kind, gk.group)} ${JSON.stringify(name)} is invalid: ${text}`, {
    ...(name ? { name } : {}),
    ...(gk.group ? { group: gk.group } : {}),
    ...(gk.kind ? { kind: gk.kind } : {}),
    causes: errors.map((e) => ({ reason: e.reason, message: e.message, field: e.field })),
  })
}

export const tooManyRequests = (message: string, retryAfterSeconds: number, causes?: StatusCause[]) =>
  new ApiError(429, 'TooManyRequests', message, {
    ...(causes ? { causes } : {}),
    ...(retryAfterSeconds ? { retryAfterSeconds } : {}),
  })

export const entityTooLarge = (message: string) => new ApiError(413, 'RequestEntityTooLarge', message)

export const internalError = (message: string) =>
  new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] })

export const serviceUnavailable = (message: string) => new ApiError(503, 'ServiceUnavailable', message)

const is =
  (reason: StatusReason) =>
  (e: unknown): e is ApiError =>
    e instanceof ApiError && e.reason === reason

export const isNotFound = is('NotFound')
export const isAlreadyExists = is('AlreadyExists')
export const isConflict = is('Conflict')
export const isInvalid = is('Invalid')
/**
 * The conflict for a write whose uid precondition fails: another object has the name. Other conflicts have other
 * reasons.
 */
export const isAnotherUid = (e: unknown): boolean => isConflict(e) && /UID in (the )?precondition/i.test(e.message)
export const isExpired = (e: unknown): e is ApiError => e instanceof ApiError && e.code === 410
