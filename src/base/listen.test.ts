import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { listen } from './listen.ts'

const opened = () => {
  const server = createServer((socket) => void socket.end('hello'))
  onTestFinished(() => void server.close())
  return server
}
const local = { host: '127.0.0.1', port: 0 }

it('listen() keeps the server when connections cannot be accepted', async () => {
  const server = opened()
  const errors: Error[] = []
  await listen(server, local, (error) => void errors.push(error))
  const refused = [new Error('accept EMFILE'), new Error('accept ENFILE')]
  for (const error of refused) server.emit('error', error)
  expect(errors).toEqual(refused)
  const [text] = await once(connect({ ...local, port: (server.address() as AddressInfo).port }), 'data')
  expect(String(text)).toBe('hello')
})

it('listen() rejects if the port is in use', async () => {
  const first = opened()
  await listen(first, local)
  await expect(listen(opened(), { ...local, port: (first.address() as AddressInfo).port })).rejects.toThrow('EADDRINUSE')
})
