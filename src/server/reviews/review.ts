import type { NonResourceAttributes, ResourceAttributes } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Identified } from '../auth/authenticate.ts'
import type { UserInfo } from '../objects/objects.ts'

/** What somebody wants to do: with a resource, or with a path that is none. */
export type Attempt = { kind: 'resource'; attributes: ResourceAttributes } | { kind: 'path'; attributes: NonResourceAttributes }

/** Whether an attempt would succeed, and why; neither allowed nor denied means that nobody had an opinion. */
export interface Decision {
  allowed: boolean
  denied?: boolean
  reason?: string
}

/** What a review can ask. */
export interface ReviewContext {
  /** Who sent the request. */
  user: UserInfo
  /** The namespace in the path, '' if there is none. */
  namespace: string
  /** Milliseconds since the epoch. */
  now: number
  decide(user: UserInfo, attempt: Attempt): Decision
  /** Whose token this is, if it is meant for one of the audiences; where none are named, for this server. */
  identify(token: string, audiences: readonly string[]): Identified | undefined
}

/** A kind that is a question: it is posted, answered and never stored. */
export interface Review {
  group: string
  version: 'v1'
  kind: string
  plural: string
  namespaced: boolean
  /** The answer to a decoded question; throws an ApiError for a question that makes no sense. */
  run(body: KubeObject, context: ReviewContext): object
}
