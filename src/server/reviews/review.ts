import type { KubeObject } from '../../api/object.ts'
import type { Identified, Maybe } from '../auth/authenticate.ts'
import type { Authorizer } from '../auth/authorize.ts'
import type { UserInfo } from '../objects/objects.ts'

/** The inputs of a review besides its body. */
export interface ReviewContext {
  /** The requesting user. */
  user: UserInfo
  /** The namespace in the path, '' if there is none. */
  namespace: string
  /** Milliseconds since the epoch. */
  now: number
  authorizer: Authorizer
  /** Authenticates a token for one of the audiences. Default: this server's audiences. */
  identify(token: string, audiences: readonly string[]): Maybe<Identified>
}

/** A review kind: created by POST, answered and never stored. */
export interface Review {
  group: string
  version: 'v1'
  kind: string
  plural: string
  namespaced: boolean
  /** Evaluates a decoded review. Throws an ApiError if it is invalid. */
  run(body: KubeObject, context: ReviewContext): object | Promise<object>
}
