import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { Channel, type Subscriber } from './channel.ts'
import { Table } from './table.ts'

class Client implements Subscriber {
  backlog = 0
  readonly got: Buffer[] = []

  send(bytes: Buffer): void {
    this.got.push(bytes)
  }

  get texts(): string[] {
    return this.got.splice(0).map((bytes) => bytes.toString())
  }
}

function scene() {
  const clock = new VirtualClock(0)
  const channel = new Channel('t', new Table(['number'], 'e'), clock)
  const set = (key: string, value: number) => {
    channel.table.set(key, [value])
    channel.touch()
  }
  return { clock, channel, set }
}

describe('Channel', () => {
  it('encodes a change once for all, and gathers changes', () => {
    const { clock, channel, set } = scene()
    const [a, b] = [new Client(), new Client()]
    channel.subscribe(a)
    channel.subscribe(b)
    a.texts.push(...b.texts)
    set('x', 1)
    set('x', 2)
    clock.advance(250)
    expect(a.got).toHaveLength(1)
    expect(a.got[0]).toBe(b.got[0])
    expect(a.texts).toEqual(['{"c":"t","e":"e","r":1,"u":[[0],2]}'])
  })

  it('sends nothing to a client that is behind, and then all it missed in one frame', () => {
    const { clock, channel, set } = scene()
    const [slow, quick] = [new Client(), new Client()]
    channel.subscribe(slow)
    channel.subscribe(quick)
    slow.texts.push(...quick.texts)
    slow.backlog = 1_000_000
    for (const value of [1, 2, 3]) {
      set('x', value)
      clock.advance(250)
    }
    expect(slow.got).toHaveLength(0)
    expect(quick.texts).toHaveLength(3)
    slow.backlog = 0
    clock.advance(250)
    expect(slow.texts).toEqual(['{"c":"t","e":"e","r":3,"u":[[0],3]}'])
  })

  it('brings a client that comes back what has changed since its position', () => {
    const { clock, channel, set } = scene()
    const client = new Client()
    set('x', 1)
    set('y', 1)
    channel.subscribe(client)
    const position = channel.positionOf(client)!
    channel.unsubscribe(client)
    client.got.length = 0
    set('y', 2)
    clock.advance(250)
    channel.subscribe(client, position)
    expect(client.texts).toEqual(['{"c":"t","e":"e","r":2,"u":[[1],2]}'])
  })

  it('sends nothing to a client that subscribes while it is behind, until it has caught up', () => {
    const { clock, channel, set } = scene()
    const client = new Client()
    set('x', 1)
    channel.subscribe(client)
    const position = channel.positionOf(client)!
    channel.unsubscribe(client)
    client.got.length = 0
    set('x', 2)
    client.backlog = 1_000_000
    channel.subscribe(client, position)
    clock.advance(1000)
    expect([client.got, channel.positionOf(client)]).toEqual([[], position])
    client.backlog = 0
    clock.advance(250)
    expect(client.texts).toEqual(['{"c":"t","e":"e","r":2,"u":[[0],2]}'])
  })

  it('sends everything to a client without a position once it has caught up', () => {
    const { clock, channel, set } = scene()
    const client = new Client()
    set('x', 1)
    client.backlog = 1_000_000
    channel.subscribe(client)
    clock.advance(1000)
    expect(client.got).toEqual([])
    client.backlog = 0
    clock.advance(250)
    expect(client.texts).toEqual(['{"c":"t","e":"e","s":1,"r":1,"u":[[0],1]}'])
  })

  it('sends a snapshot to every client after the dictionary has been renewed', () => {
    const clock = new VirtualClock(0)
    const channel = new Channel('t', new Table(['word'], 'e'), clock)
    const client = new Client()
    for (let i = 0; i < 1500; i++) channel.table.set(String(i), [`word-${i}`])
    channel.subscribe(client)
    for (let i = 1; i < 1500; i++) channel.table.delete(String(i))
    channel.touch()
    clock.advance(250)
    expect(client.texts.at(-1)).toBe('{"c":"t","e":"e.1","s":1,"r":2,"w":[0,"word-0"],"u":[[0],0]}')
    channel.table.set('0', ['another'])
    channel.touch()
    clock.advance(250)
    expect(client.texts).toEqual(['{"c":"t","e":"e.1","r":3,"w":[1,"another"],"u":[[0],1]}'])
  })
})
