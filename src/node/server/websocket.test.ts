import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Connection } from './connection.ts'
import { acceptWebSocket } from './websocket.ts'

let server: Server
let accepted: Promise<Connection>

beforeEach(async () => {
  server = createServer()
  accepted = new Promise((resolve) => server.on('upgrade', (request, socket, head) => void acceptWebSocket(request, socket, head, 'v5.channel.k8s.io').then(resolve)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

const clients: WebSocket[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate()
  await new Promise((resolve) => server.close(resolve))
})

/** Both ends of a connection, and what the server's has received. */
async function connect(options: object = {}) {
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, ['v4.channel.k8s.io', 'v5.channel.k8s.io'], options)
  clients.push(client)
  client.on('error', () => {})
  await once(client, 'open')
  const connection = await accepted
  const messages: Buffer[] = []
  connection.onMessage = (message) => void messages.push(message)
  return { client, connection, messages }
}

const closed = async (client: WebSocket) => (await once(client, 'close'))[0] as number

describe('acceptWebSocket()', () => {
  it('chooses the protocol, and carries messages of any length both ways', async () => {
    const { client, connection, messages } = await connect()
    expect(client.protocol).toBe('v5.channel.k8s.io')
    for (const length of [0, 125, 126, 65_535, 65_536]) client.send(Buffer.alloc(length, 'abc'))
    await expect.poll(() => messages.map(({ length }) => length)).toEqual([0, 125, 126, 65_535, 65_536])
    const answer = once(client, 'message')
    connection.send(Buffer.from('\x01yes'))
    expect(String((await answer)[0])).toBe('\x01yes')
    client.close()
  })

  it('does not speak in compressed messages, whatever the client offers', async () => {
    const { client } = await connect({ perMessageDeflate: true })
    expect(client.extensions).toBe('')
    client.close()
  })

  it('takes a message of 15 MiB in less than 200 ms of CPU, in whatever pieces it comes', async () => {
    const { client, messages } = await connect()
    const times: number[] = []
    // The best of a few tells what the work itself takes. CPU time, because others may use the machine.
    for (let turn = 1; turn <= 5; turn++) {
      const started = process.cpuUsage()
      client.send(Buffer.alloc(15 << 20, 'x'))
      await expect.poll(() => messages.length, { interval: 1, timeout: 5000 }).toBe(turn)
      const { user, system } = process.cpuUsage(started)
      times.push((user + system) / 1000)
    }
    expect(messages.every(({ length }) => length === 15 << 20)).toBe(true)
    expect(Math.min(...times)).toBeLessThan(200)
    client.close()
  })

  it('lets a client go that sends more than 16 MiB at once', async () => {
    const { client } = await connect()
    const code = closed(client)
    client.send(Buffer.alloc((16 << 20) + 1))
    expect(await code).toBe(1009)
  })

  it('says goodbye after what it has sent', async () => {
    const { client, connection } = await connect()
    const got: string[] = []
    client.on('message', (message: Buffer) => got.push(message.toString()))
    const code = closed(client)
    connection.send(Buffer.from('last'))
    connection.close()
    expect([await code, got]).toEqual([1000, ['last']])
    expect(connection.send(Buffer.from('too late'))).toBe(true)
  })

  it('says goodbye while it reads nothing, too', async () => {
    const { client, connection } = await connect()
    connection.pause()
    const code = closed(client)
    connection.close()
    expect(await code).toBe(1000)
  })

  it.each([['says goodbye', (client: WebSocket) => client.close()], ['is gone', (client: WebSocket) => client.terminate()]])('hears that a client %s', async (_what, leave) => {
    const { client, connection } = await connect()
    const gone = new Promise<void>((resolve) => (connection.onClose = resolve))
    leave(client)
    await gone
  })

  it('tells its sender to wait while the client does not read', async () => {
    const { client, connection } = await connect()
    client.pause()
    let sent = 0
    while (connection.send(Buffer.alloc(64 << 10)) && sent < 1000) sent++
    expect(sent).toBeLessThan(1000)
    const drained = new Promise<void>((resolve) => connection.drained(resolve))
    client.resume()
    await drained
    client.close()
  })
})
