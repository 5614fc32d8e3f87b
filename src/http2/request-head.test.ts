import { describe, expect, it } from 'vitest'
import type { Field } from './hpack/static-table.ts'
import { requestHead } from './request-head.ts'

const fields = (...lines: string[]): Field[] => lines.map((line) => {
  const at = line.indexOf('=')
  return { name: line.slice(0, at), value: line.slice(at + 1) }
})
const get = [':method=GET', ':scheme=https', ':path=/a?b=c']

describe('requestHead()', () => {
  it('reads what is asked', () => {
    const head = requestHead(fields(...get, ':authority=host:1', 'accept=x', 'accept=y', 'te=trailers', 'empty='))
    expect(head).toMatchObject({ method: 'GET', path: '/a?b=c' })
    expect(Object.fromEntries(head!.headers)).toEqual({ host: 'host:1', accept: 'x, y', te: 'trailers', empty: '' })
  })

  it('prefers a host that is named', () => {
    expect(requestHead(fields(...get, ':authority=a', 'host=b'))?.headers.get('host')).toBe('b')
  })

  it.each([
    ['without a method', [':scheme=https', ':path=/']],
    ['without a scheme', [':method=GET', ':path=/']],
    ['without a path', [':method=GET', ':scheme=https']],
    ['with an empty path', [':method=GET', ':scheme=https', ':path=']],
    ['with two paths', [...get, ':path=/b']],
    ['with a status', [...get, ':status=200']],
    ['with a pseudo header that nobody knows', [...get, ':protocol=x']],
    ['with a pseudo header of every object', [...get, ':constructor=x']],
    ['with a pseudo header after another', [':method=GET', ':scheme=https', 'a=b', ':path=/']],
    ['with a name in upper case', [...get, 'Accept=x']],
    ['with a name of nothing', [...get, '=x']],
    ['with a space in a name', [...get, 'a b=x']],
    ['with a header about the connection', [...get, 'connection=close']],
    ['with transfer-encoding', [...get, 'transfer-encoding=chunked']],
    ['with te for something else', [...get, 'te=gzip']],
    ['with a line break in a value', [...get, 'a=b\r\nc: d']],
    ['with a zero byte in a value', [...get, 'a=b\0']],
    ['with a space before a value', [...get, 'a= b']],
    ['with a tab after a value', [...get, 'a=b\t']],
    ['with a line break in its path', [':method=GET', ':scheme=https', ':path=/a\nb']],
  ])('makes nothing of a request %s', (_, lines) => expect(requestHead(fields(...lines))).toBeUndefined())
})
