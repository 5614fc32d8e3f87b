import { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { Output } from './output.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A network that takes what is written only when told. */
function network() {
  const written: Buffer[] = []
  const waiting: (() => void)[] = []
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk)
      waiting.push(done)
    },
  })
  return { socket, written, takeOne: () => waiting.shift()?.() }
}

describe('Output', () => {
  it('writes what was added in one turn at once, texts as bytes', async () => {
    const { socket, written } = network()
    const output = new Output(socket, () => {})
    output.add('a\xff')
    output.add(Buffer.from([1, 2]))
    output.add('b')
    expect(written).toEqual([])
    expect(output.backlog).toBe(5)
    await turn()
    expect(written).toEqual([Buffer.from([0x61, 0xff, 1, 2, 0x62])])
  })

  it('does not wait for the end of a turn with much to send', () => {
    const { socket, written } = network()
    const output = new Output(socket, () => {})
    output.add(Buffer.alloc(1 << 18))
    expect(written.length).toBe(1)
  })

  it('is congested with a megabyte that is not taken, and tells once when it is gone', async () => {
    const { socket, takeOne } = network()
    let told = 0
    const output = new Output(socket, () => told++)
    for (let i = 0; i < 4; i++) output.add(Buffer.alloc(1 << 18))
    expect(output.isCongested).toBe(true)
    for (let i = 0; i < 4; i++) {
      expect(told).toBe(0)
      takeOne()
      await turn()
    }
    expect(told).toBe(1)
    expect(output.isCongested).toBe(false)
  })

  it('tells nobody who has not asked', async () => {
    const { socket, takeOne } = network()
    const output = new Output(socket, () => expect.fail('nobody waits'))
    output.add(Buffer.alloc(1 << 18))
    takeOne()
    await turn()
  })

  it('throws away what is added after the network is gone', async () => {
    const { socket, written } = network()
    const output = new Output(socket, () => {})
    socket.destroy()
    output.add('x')
    await turn()
    expect([written, output.backlog]).toEqual([[], 0])
  })
})
