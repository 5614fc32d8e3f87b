import { ApiError } from '../../api/errors.ts'

/** A resource version in a query as a revision; absent and empty are 0. Throws what `fail` makes of Kubernetes' sentence. */
export function parseRevision(text: string | null, fail: (message: string) => ApiError): number {
  if (text === null || text === '') return 0
  const problem = (what: string) => fail(`resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${what}`)
  if (!/^\d+$/.test(text)) throw problem('invalid syntax')
  if (BigInt(text) > 0xffff_ffff_ffff_ffffn) throw problem('value out of range')
  return Number(text)
}

/** A revision from the future: the client may have talked to a newer copy of this server, so it is told to try again. */
export const tooNew = (asked: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
