import { localSubjectAccessReview, selfSubjectAccessReview, selfSubjectRulesReview, subjectAccessReview } from './access-reviews.ts'
import { selfSubjectReview, tokenReview } from './identity-reviews.ts'
import type { Review } from './review.ts'

export type { Attempt, Decision, Review, ReviewContext } from './review.ts'

/** Every kind that is a question, in the order of discovery. */
export const reviews: readonly Review[] = [
  selfSubjectReview,
  tokenReview,
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
]
