import { describe, expect, it } from 'vitest'
import { Health } from './health.ts'

let storeProblem: string | undefined
let stopping: string | undefined
const health = new Health([{ name: 'store', check: () => storeProblem }], [{ name: 'shutdown', check: () => stopping }])
const ask = (path: string, query = '') => {
  const answer = health.answer({ method: 'GET', path, query: new URLSearchParams(query) })
  return answer && `${answer.code} ${answer.body.toString()}`
}

describe('Health', () => {
  it.each([
    ['/livez', '', '200 ok'],
    ['/readyz', '', '200 ok'],
    ['/healthz', '', '200 ok'],
    ['/livez', 'verbose', '200 [+]ping ok\n[+]store ok\nlivez check passed\n'],
    ['/readyz', 'verbose', '200 [+]ping ok\n[+]store ok\n[+]shutdown ok\nreadyz check passed\n'],
    ['/readyz', 'verbose&exclude=store', '200 [+]ping ok\n[+]store excluded: ok\n[+]shutdown ok\nreadyz check passed\n'],
    ['/livez/store', '', '200 ok'],
    ['/livez/shutdown', '', undefined],
    ['/livez/store/more', '', undefined],
    ['/livez/', '', undefined],
    ['/readyz/', 'verbose', undefined],
    ['/livez/store/', '', undefined],
    ['/bogus', '', undefined],
  ])('answers %s?%s while all is well', (path, query, expected) => {
    ;[storeProblem, stopping] = [undefined, undefined]
    expect(ask(path, query)).toBe(expected)
  })

  it.each([
    ['/livez', '', '500 [+]ping ok\n[-]store failed: it is gone\nlivez check failed\n'],
    ['/livez', 'exclude=store', '200 ok'],
    ['/livez/store', '', '500 internal server error: it is gone\n'],
    ['/livez/ping', '', '200 ok'],
  ])('answers %s?%s while something is wrong', (path, query, expected) => {
    storeProblem = 'it is gone'
    expect(ask(path, query)).toBe(expected)
  })

  it('is alive while it is not ready', () => {
    ;[storeProblem, stopping] = [undefined, 'stopping']
    expect([ask('/livez'), ask('/readyz')!.slice(0, 3)]).toEqual(['200 ok', '500'])
  })

  it('says how something is that nothing fails for', () => {
    const telling = new Health([], [])
    telling.tell('event-loop', () => 'at most 12 ms late in the last minute')
    const lines = (path: string) => telling.answer({ method: 'GET', path, query: new URLSearchParams('verbose') })!.body.toString().split('\n')
    expect([lines('/livez')[1], lines('/readyz')[1]]).toEqual(Array(2).fill('[+]event-loop ok: at most 12 ms late in the last minute'))
    expect(telling.answer({ method: 'GET', path: '/livez/event-loop' })!.body.toString()).toBe('ok')
  })
})
