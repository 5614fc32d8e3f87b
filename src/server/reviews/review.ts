import type { KubeObject } from '../../api/object.ts'
import type { Identified, Maybe } from '../auth/authenticate.ts'
import type { Authorizer } from '../auth/authorize.ts'
import type { UserInfo } from '../objects/objects.ts'

/** What a review can ask. */
export interface ReviewContext {
  /** Who sent the request. */
  user: UserInfo
  /** The namespace in the path, '' if there is none. */
  namespace: string
  /** Milliseconds since the epoch. */
  now: number
  authorizer: Authorizer
  /** The user of a token, if it is meant for one of the audiences; where none are named, for this server. */
  identify(token: string, audiences: readonly string[]): Maybe<Identified>
}

/** A kind that is a question: it is posted, answered and never stored. */
export interface Review {
  group: string
  version: 'v1'
  kind: string
  plural: string
  namespaced: boolean
  /** The answer to a decoded question; throws an ApiError for a question that makes no sense. */
  run(body: KubeObject, context: ReviewContext): object | Promise<object>
}
