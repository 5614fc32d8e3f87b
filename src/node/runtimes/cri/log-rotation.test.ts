import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../base/logger.ts'
import { VirtualClock } from '../../../base/virtual-clock.ts'
import { LogRotation } from './log-rotation.ts'

let directory: string
let file: string
/** The behaviour of the runtime when it is told to reopen the log. */
let reopen: () => Promise<void>

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'coxswain-rotation-'))
  file = path.join(directory, '0.log')
  reopen = async () => writeFileSync(file, '')
  onTestFinished(() => rmSync(directory, { recursive: true }))
})

const look = () =>
  new LogRotation({
    clock: new VirtualClock(), logger: silentLogger, sizeLimit: 10, running: () => [['id', file]], reopen: () => reopen(),
  }).look()
/** The content of each file, by the end of its name. */
const files = () => Object.fromEntries(readdirSync(directory).sort().map((name) => [name.slice(5), readFileSync(path.join(directory, name), 'utf8')]))
const large = 'x'.repeat(11)

describe('LogRotation', () => {
  it('keeps five files, the newest first', async () => {
    for (let n = 0; n < 6; n++) {
      writeFileSync(file, `${n}${large}`)
      await look()
    }
    expect(Object.entries(files()).map(([end, text]) => `${end} ${text.slice(0, 1)}`)).toEqual([' ', '.1 5', '.2 4', '.3 3', '.4 2'])
  })

  it('leaves a small log alone, and one that is not there', async () => {
    reopen = async () => expect.unreachable()
    await look()
    writeFileSync(file, 'small')
    await look()
    expect(files()).toEqual({ '': 'small' })
  })

  it('renames back if the runtime does not reopen the log, and tries again', async () => {
    writeFileSync(`${file}.1`, 'before')
    writeFileSync(file, large)
    const works = reopen
    reopen = async () => Promise.reject(new Error('the runtime is busy'))
    await look()
    expect(files()).toEqual({ '': large, '.1': 'before' })
    reopen = works
    await look()
    expect(files()).toEqual({ '': '', '.1': large, '.2': 'before' })
  })

  it('keeps a file that the runtime has opened before it reported an error', async () => {
    writeFileSync(file, large)
    reopen = async () => {
      writeFileSync(file, 'new')
      throw new Error('context deadline exceeded')
    }
    await look()
    expect(files()).toEqual({ '': 'new', '.1': large })
  })

  it('finishes the rotation of an agent that was killed in the middle of it', async () => {
    writeFileSync(file, large)
    renameSync(file, `${file}.1`)
    await look()
    expect([existsSync(file), files()['.1']]).toEqual([true, large])
  })
})
