import type { TokenReview, TokenReviewStatus } from '../../../api/generated/types.ts'
import type { Logger } from '../../../base/logger.ts'
import type { Identified, TokenReader } from '../authenticate.ts'
import { decodeAnswer } from '../../webhooks/answers.ts'
import { authenticatedGroup } from './anonymous.ts'

interface WebhookOptions {
  version: 'v1' | 'v1beta1'
  /** The audiences of this server. */
  own: readonly string[]
  /** Posts a TokenReview and resolves with the response body. */
  post(review: object): Promise<unknown>
  logger: Logger
}

/** Authenticates tokens by a TokenReview of a webhook. */
export function webhookTokens({ version, own, post, logger }: WebhookOptions): TokenReader {
  return async (token, wanted): Promise<Identified | undefined> => {
    const spec = { token, ...(wanted.length > 0 ? { audiences: wanted } : {}) }
    const review = { apiVersion: `authentication.k8s.io/${version}`, kind: 'TokenReview', spec }
    try {
      const answer = decodeAnswer<TokenReview>('TokenReview', await post(review))
      if (answer.kind !== 'TokenReview') throw new Error('the webhook has not answered a TokenReview')
      return identified(answer.status ?? {}, wanted, own)
    } catch (error) {
      logger.warn('failed to call the authentication webhook', { error })
      return undefined
    }
  }
}

/** A webhook that returns no audiences does not know them: its tokens are valid for this server. */
function identified(
  status: Partial<TokenReviewStatus>,
  wanted: readonly string[],
  own: readonly string[],
): Identified | undefined {
  const { authenticated, user, audiences: named = [] } = status
  if (!authenticated || !user?.username) return undefined
  const meant = named.length > 0 ? named : own
  const audiences = wanted.filter((audience) => meant.includes(audience))
  if (wanted.length > 0 && audiences.length === 0) return undefined
  const { username, uid, groups = [], extra } = user
  const all = groups.includes(authenticatedGroup) ? groups : [...groups, authenticatedGroup]
  return { user: { name: username, ...(uid ? { uid } : {}), groups: all, ...(extra ? { extra } : {}) }, audiences }
}
