import { beforeEach, describe, expect, it } from 'vitest'
import { ErrorCode } from './errors.ts'
import { Http2Stream, type StreamHost } from './stream.ts'

/** A connection of which the test says how much room it has. */
class Host implements StreamHost {
  readonly frameBytes = 4
  room = 100
  readonly log: string[] = []
  credited = 0

  roomFor(): number {
    return this.room
  }

  sendHeaders(_stream: Http2Stream, fields: readonly unknown[], isEnd: boolean): void {
    this.log.push(`headers ${fields.length}${isEnd ? ' end' : ''}`)
  }

  sendData(_stream: Http2Stream, piece: Buffer, isEnd: boolean): void {
    this.room -= piece.length
    this.log.push(`data ${piece.toString()}${isEnd ? ' end' : ''}`)
  }

  sendReset(_stream: Http2Stream, code: number): void {
    this.log.push(`reset ${code}`)
  }

  waitForRoom(): void {
    this.log.push('waits')
  }

  credit(_stream: Http2Stream, bytes: number): void {
    this.credited += bytes
  }

  localEnded(): void {
    this.log.push('said all')
  }

  forget(): void {
    this.log.push('forgotten')
  }
}

let host: Host
let stream: Http2Stream
let heard: string[]
beforeEach(() => {
  host = new Host()
  stream = new Http2Stream(1, host, { send: 100, receive: 100 })
  heard = []
  stream.onClosed = (code) => heard.push(`closed ${code}`)
})
const receiver = { data: (piece: Buffer) => void heard.push(piece.toString()), end: () => void heard.push('end') }

describe('Http2Stream sends', () => {
  it('in frames that the other side takes, the last of which says that it is the last', () => {
    expect(stream.send(Buffer.from('abcdefghi'), true)).toBe(true)
    expect(host.log).toEqual(['data abcd', 'data efgh', 'data i end', 'said all'])
  })

  it('an empty frame where the end is all there is to say', () => {
    stream.send(Buffer.from('ab'))
    stream.send(Buffer.alloc(0), true)
    expect(host.log).toEqual(['data ab', 'data  end', 'said all'])
  })

  it('what there is room for, the rest when there is room again, and then tells who waits', () => {
    host.room = 3
    stream.onRoom = () => host.log.push('room')
    expect(stream.send(Buffer.from('abcde'))).toBe(false)
    expect(stream.send(Buffer.from('fg'), true)).toBe(false)
    expect(stream.backlog).toBe(4)
    expect(host.log.splice(0)).toEqual(['data abc', 'waits', 'waits'])
    host.room = 1
    stream.resume()
    expect(host.log.splice(0)).toEqual(['data d', 'waits'])
    host.room = 100
    stream.resume()
    expect(host.log).toEqual(['data e', 'data fg end', 'said all', 'room'])
    expect(stream.backlog).toBe(0)
  })

  it('nothing after its end, and nothing once it is broken off', () => {
    stream.send(Buffer.from('a'), true)
    stream.send(Buffer.from('b'))
    stream.sendHeaders([], true)
    stream.reset(ErrorCode.cancel)
    stream.reset(ErrorCode.cancel)
    stream.resume()
    stream.send(Buffer.from('c'))
    expect(host.log).toEqual(['data a end', 'said all', 'reset 8', 'forgotten'])
  })

  it('nothing of what waited once it is closed', () => {
    host.room = 0
    stream.send(Buffer.from('abc'), true)
    stream.close(ErrorCode.cancel)
    host.room = 100
    stream.resume()
    expect(host.log).toEqual(['waits', 'forgotten'])
    expect(stream.backlog).toBe(0)
  })
})

describe('Http2Stream receives', () => {
  it('what came before anybody listened, and then the rest', () => {
    stream.take(Buffer.from('a'))
    expect(host.credited).toBe(0)
    stream.receive(receiver)
    stream.take(Buffer.from('b'))
    stream.remoteEnded()
    expect(heard).toEqual(['a', 'b', 'end'])
    expect(host.credited).toBe(2)
  })

  it('the end for who listens late', () => {
    stream.take(Buffer.from('a'))
    stream.remoteEnded()
    stream.receive(receiver)
    expect(heard).toEqual(['a', 'end'])
  })

  it('nothing for who has given up amid what was held: that goes to the next', () => {
    for (const text of ['a', 'b', 'c']) stream.take(Buffer.from(text))
    stream.remoteEnded()
    stream.receive({ data: () => stream.receive(receiver), end: () => heard.push('end of the first') })
    expect(heard).toEqual(['b', 'c', 'end'])
    expect(host.credited).toBe(3)
  })

  it('nothing once it was broken off by who receives it, and gives back what was held', () => {
    for (const text of ['a', 'b', 'c']) stream.take(Buffer.from(text))
    stream.remoteEnded()
    stream.receive({
      data(piece) {
        heard.push(piece.toString())
        stream.reset(ErrorCode.cancel)
      },
      end: () => heard.push('end'),
    })
    expect(heard).toEqual(['a', 'closed 8'])
    expect(host.credited).toBe(3)
  })

  it('gives back what nobody has taken when it is closed', () => {
    stream.take(Buffer.from('abc'))
    stream.close(undefined)
    expect(host.credited).toBe(3)
  })

  it('no end for who listens only after it was broken off', () => {
    stream.remoteEnded()
    stream.close(ErrorCode.cancel)
    stream.receive(receiver)
    expect(heard).toEqual(['closed 8'])
  })
})

describe('Http2Stream is over', () => {
  it.each([
    ['when we end last', () => (stream.remoteEnded(), stream.sendHeaders([], true))],
    ['when the other side ends last', () => (stream.sendHeaders([], true), stream.remoteEnded())],
    ['when we end while the other side does', () => (stream.receive({ ...receiver, end: () => stream.send(Buffer.from('x'), true) }), stream.remoteEnded())],
  ])('%s, and says so once', (_, both) => {
    both()
    stream.close(ErrorCode.cancel)
    stream.remoteEnded()
    expect(heard).toEqual(['closed 0'])
    expect(host.log.filter((line) => line === 'forgotten').length).toBe(1)
  })
})
