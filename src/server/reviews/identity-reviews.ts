import { badRequest } from '../../api/errors.ts'
import type { TokenReview } from '../../api/generated/types.ts'
import type { UserInfo } from '../objects/objects.ts'
import { whenKnown } from '../auth/authenticate.ts'
import type { Review } from './review.ts'
import { timestamp } from '../../api/object.ts'

const group = 'authentication.k8s.io'

const wireForm = ({ name, uid, groups, extra }: UserInfo) => ({
  username: name,
  ...(uid && { uid }),
  ...(groups.length && { groups: [...groups] }),
  ...(extra && Object.keys(extra).length && { extra }),
})

/** Returns the requesting user. The request's content is ignored. */
export const selfSubjectReview: Review = {
  group,
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
  run: (_body, { user, now }) => ({
    apiVersion: `${group}/v1`,
    kind: 'SelfSubjectReview',
    metadata: { creationTimestamp: timestamp(now) },
    status: { userInfo: wireForm(user) },
  }),
}

/** Authenticates a token. */
export const tokenReview: Review = {
  group,
  version: 'v1',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  namespaced: false,
  run(body, { identify }) {
    const { spec } = body as TokenReview
    if (!spec.token) throw badRequest('token is required for TokenReview in authentication')
    return whenKnown(identify(spec.token, spec.audiences ?? []), (found) => {
      const status = found
        ? {
            authenticated: true,
            user: wireForm(found.user),
            ...(found.audiences.length > 0 && { audiences: found.audiences }),
          }
        : { user: {}, error: 'invalid bearer token' }
      return { ...body, status }
    })
  },
}
