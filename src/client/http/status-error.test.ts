import { describe, expect, it } from 'vitest'
import { errorOfAnswer, errorOfStatus, retryAfterSeconds } from './status-error.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const status = (fields: object) => JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...fields })

describe('errorOfAnswer()', () => {
  it.each([
    {
      name: 'a Status, with everything it says',
      code: 409,
      text: status({ code: 409, reason: 'AlreadyExists', message: 'pods "a" already exists', details: { name: 'a', kind: 'pods' } }),
      error: { code: 409, reason: 'AlreadyExists', message: 'pods "a" already exists', details: { name: 'a', kind: 'pods' } },
    },
    {
      name: 'a Status that leaves out its code and reason',
      code: 404,
      text: status({ message: 'gone' }),
      error: { code: 404, reason: 'NotFound', message: 'gone' },
    },
    {
      name: 'where an expired list may go on',
      code: 410,
      text: status({ code: 410, reason: 'Expired', message: 'old', metadata: { continue: 'abc' } }),
      error: { code: 410, reason: 'Expired', metadata: { continue: 'abc' } },
    },
    {
      name: 'the Retry-After header',
      code: 429,
      headers: { 'retry-after': '7' },
      text: status({ code: 429, reason: 'TooManyRequests', message: 'slow' }),
      error: { code: 429, details: { retryAfterSeconds: 7 } },
    },
    {
      name: 'the seconds of the Status rather than those of the header',
      code: 429,
      headers: { 'retry-after': '7' },
      text: status({ code: 429, reason: 'TooManyRequests', message: 'slow', details: { retryAfterSeconds: 3 } }),
      error: { code: 429, details: { retryAfterSeconds: 3 } },
    },
    {
      name: "a gateway's page",
      code: 503,
      text: ' <html>down</html>\n',
      error: { code: 503, reason: 'ServiceUnavailable', message: 'the server has answered 503: <html>down</html>' },
    },
    { name: 'JSON that is no Status', code: 500, text: '{"a":1}', error: { code: 500, reason: 'InternalError', message: 'the server has answered 500: {"a":1}' } },
    { name: 'JSON that is broken off', code: 502, text: '{"a', error: { code: 502, reason: '', message: 'the server has answered 502: {"a' } },
    { name: 'nothing at all', code: 302, text: '', error: { code: 302, reason: '', message: 'the server has answered 302' } },
  ])('reads $name', ({ code, headers = {}, text, error }) => {
    expect(errorOfAnswer(code, headers, text, now)).toMatchObject(error)
  })

  it('shows no more than the beginning of a long page', () => {
    expect(errorOfAnswer(500, {}, 'x'.repeat(10_000), now).message.length).toBeLessThan(600)
  })
})

it('errorOfStatus() makes an error of whatever an ERROR event carries', () => {
  expect(errorOfStatus({})).toMatchObject({ code: 500, reason: 'InternalError', message: 'the server has answered 500' })
})

it.each([
  { header: undefined, seconds: undefined },
  { header: '12', seconds: 12 },
  { header: '0', seconds: 0 },
  { header: 'Thu, 01 Jan 2026 00:00:30 GMT', seconds: 30 },
  { header: 'Wed, 31 Dec 2025 23:59:00 GMT', seconds: 0 },
  { header: 'soon', seconds: undefined },
])('retryAfterSeconds($header) is $seconds', ({ header, seconds }) => {
  expect(retryAfterSeconds(header, now)).toBe(seconds)
})
