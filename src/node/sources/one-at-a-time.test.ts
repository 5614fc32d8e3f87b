import { expect, it } from 'vitest'
import type { ApiRequest, Transport } from '../../client/index.ts'
import { OneAtATime } from './one-at-a-time.ts'

it('OneAtATime sends the next request when the one before it was answered, whatever the answer', async () => {
  const sent: string[] = []
  const answers: { resolve(): void; reject(error: Error): void }[] = []
  const inner = {
    send: ({ path }: ApiRequest) =>
      new Promise<void>((resolve, reject) => {
        sent.push(path)
        answers.push({ resolve, reject })
      }),
  } as unknown as Transport
  const transport = new OneAtATime(inner)
  const request = (path: string) => transport.send({ method: 'POST', path })
  const [a, b, c] = [request('/a'), request('/b'), request('/c')]
  await Promise.resolve()
  expect(sent).toEqual(['/a'])
  answers[0]!.reject(new Error('no'))
  await expect(a).rejects.toThrow('no')
  await Promise.resolve()
  expect(sent).toEqual(['/a', '/b'])
  answers[1]!.resolve()
  await b
  await Promise.resolve()
  answers[2]!.resolve()
  await c
  expect(sent).toEqual(['/a', '/b', '/c'])
})
