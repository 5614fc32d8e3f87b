import { structOf } from '../../api/schema/index.ts'
import type { Authorizer } from '../auth/authorize.ts'
import { type Resource, defineVirtual } from '../registry/resource.ts'
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.ts'
import { selfSubjectReview, tokenReview } from './identity-reviews.ts'
import type { Review, ReviewContext } from './review.ts'

export type { ReviewContext } from './review.ts'

/** All review kinds, in the order of discovery. */
export const reviews: readonly Review[] = [
  selfSubjectReview,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
]

/** The reviews as resources. */
export function reviewResources({
  authorizer,
  identify,
}: { authorizer(): Authorizer } & Pick<ReviewContext, 'identify'>): Resource[] {
  return reviews.map(({ run, ...names }) =>
    defineVirtual({
      ...names,
      verbs: ['create'],
      bodyType: structOf(names.kind) ? names.kind : `AuthenticationV1${names.kind}`,
      answer: async ({ body, user, namespace, rules }) => ({
        code: 201,
        object: await run(body!, { user, namespace, now: rules.now, authorizer: authorizer(), identify }),
      }),
    }),
  )
}
