import { mkdirSync, mkdtempSync, readFileSync, rmSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { VirtualClock } from '../../../../base/virtual-clock.ts'
import { type Launch, type ProcessState, stateFile } from './protocol.ts'
import { Supervised } from './supervised.ts'

function container(script: string) {
  const directory = mkdtempSync(path.join(tmpdir(), 'coxswain-shim-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const launch: Launch = {
    directory, command: ['/bin/sh', '-c', script], env: {}, workingDirectory: directory, user: {}, logPath: path.join(directory, '0.log'),
    stdin: false, stdinOnce: false, tty: false, reportsReady: false, stopSignal: 'SIGTERM', placeholder: undefined,
  }
  const clock = new VirtualClock()
  const supervised = new Supervised('one', launch, clock)
  onTestFinished(() => supervised.kill())
  const file = path.join(directory, stateFile)
  return { supervised, clock, directory, file, state: () => JSON.parse(readFileSync(file, 'utf8')) as ProcessState }
}

it('Supervised stores the end of a container as soon as it can, and reports it then', async () => {
  const { supervised, clock, file, state } = container('sleep 60')
  await supervised.start()
  expect(state().state).toBe('running')
  // The state cannot be stored while a directory has its name.
  rmSync(file)
  mkdirSync(file)
  let hasEnded = false
  void supervised.ended.then(() => (hasEnded = true))
  supervised.kill()
  await vi.waitFor(() => expect(clock.nextAtMs).toBe(clock.now() + 1000), { timeout: 10_000 })
  expect(hasEnded).toBe(false)
  rmdirSync(file)
  clock.advance(1000)
  await supervised.ended
  expect(state()).toMatchObject({ state: 'exited', exitCode: 137 })
})

it('Supervised starts no program whose state cannot be stored', async () => {
  const { supervised, clock, file, state } = container('sleep 60')
  mkdirSync(file)
  await expect(supervised.start()).rejects.toThrow('EISDIR')
  rmdirSync(file)
  clock.advance(1000)
  await supervised.ended
  expect(state()).toMatchObject({ state: 'exited', exitCode: 128, reason: 'StartError' })
})

it('Supervised ends if its pipes cannot be made', async () => {
  const { supervised, directory } = container('true')
  rmSync(directory, { recursive: true })
  await expect(supervised.start()).rejects.toThrow('mkfifo')
  await supervised.ended
})
