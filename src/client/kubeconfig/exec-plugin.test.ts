import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import type { ExecEntry } from './config.ts'
import { ExecPlugin, type ExecPluginOptions } from './exec-plugin.ts'
import { loadAccess } from './load.ts'
import { type Command, type RunCommand, processRunner } from './run-command.ts'

const v1 = 'client.authentication.k8s.io/v1'
const answer = (status: object, apiVersion = v1) => JSON.stringify({ kind: 'ExecCredential', apiVersion, status })
const entry = (fields: Partial<ExecEntry> = {}): ExecEntry => ({ apiVersion: v1, command: 'login', interactiveMode: 'IfAvailable', ...fields })

/** A plug-in whose command prints these, one after the other. */
function trial(outputs: string[], exec: Partial<ExecEntry> = {}, options: Partial<ExecPluginOptions> = {}) {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const runs: Command[] = []
  const run: RunCommand = async (command) => {
    runs.push(command)
    return { code: 0, stdout: outputs[Math.min(runs.length, outputs.length) - 1]!, stderr: '' }
  }
  const cluster = { server: 'https://c', 'certificate-authority-data': 'Y2E=', config: { audience: 'a' } }
  const plugin = new ExecPlugin({ user: 'u', exec: entry(exec), command: 'login', cluster, run, clock, env: { PATH: '/bin' }, isTerminal: false, ...options })
  return { plugin, runs, clock }
}

describe('ExecPlugin', () => {
  it('runs once for everybody who asks, and not again while what it said is good', async () => {
    const { plugin, runs } = trial([answer({ token: 'a' })])
    const proofs = await Promise.all([plugin.current(), plugin.current(), plugin.current()])
    expect(new Set(proofs).size).toBe(1)
    expect(proofs[0]).toEqual({ authorization: 'Bearer a', certificate: undefined })
    expect(plugin.current()).toBe(proofs[0])
    expect(runs.length).toBe(1)
  })

  it('runs again when what it said has expired', async () => {
    const { plugin, runs, clock } = trial([answer({ token: 'a', expirationTimestamp: '2026-01-01T00:01:00Z' }), answer({ token: 'b' })])
    await plugin.current()
    await clock.advance(59_999)
    expect(await plugin.current()).toMatchObject({ authorization: 'Bearer a' })
    await clock.advance(1)
    expect(await plugin.current()).toMatchObject({ authorization: 'Bearer b' })
    expect(runs.length).toBe(2)
  })

  it('runs again when the server refuses, once for all who were refused with the same', async () => {
    const { plugin, runs } = trial([answer({ token: 'a' }), answer({ token: 'b' })])
    const proof = await plugin.current()
    expect(await Promise.all([plugin.refused(proof), plugin.refused(proof)])).toEqual([true, true])
    expect(await plugin.refused(proof)).toBe(true)
    expect(await plugin.current()).toMatchObject({ authorization: 'Bearer b' })
    expect(runs.length).toBe(2)
  })

  it('keeps a certificate that has not changed, so that its connection stays', async () => {
    const pair = { clientCertificateData: 'c', clientKeyData: 'k' }
    const { plugin } = trial([answer({ ...pair, token: 'a' }), answer({ ...pair, token: 'b' }), answer({ ...pair, clientCertificateData: 'd' })])
    const one = await plugin.current()
    await plugin.refused(one)
    const two = await plugin.current()
    expect([one.certificate, two.authorization]).toEqual([{ certificate: 'c', key: 'k' }, 'Bearer b'])
    expect(two.certificate).toBe(one.certificate)
    await plugin.refused(two)
    expect((await plugin.current()).certificate).toEqual({ certificate: 'd', key: 'k' })
  })

  it.each([
    { name: 'nothing of the cluster by default', exec: {}, isTerminal: false, spec: { interactive: false } },
    { name: 'the cluster if it asks for it', exec: { provideClusterInfo: true }, isTerminal: false, spec: { interactive: false, cluster: { server: 'https://c', 'certificate-authority-data': 'Y2E=', config: { audience: 'a' } } } },
    { name: 'that somebody is there to be asked', exec: {}, isTerminal: true, spec: { interactive: true } },
    { name: 'that nobody is to be asked', exec: { interactiveMode: 'Never' as const }, isTerminal: true, spec: { interactive: false } },
  ])('tells its command $name', async ({ exec, isTerminal, spec }) => {
    const { plugin, runs } = trial([answer({ token: 'a' })], { ...exec, args: ['--all'], env: [{ name: 'A', value: 'b' }] }, { isTerminal })
    await plugin.current()
    const { KUBERNETES_EXEC_INFO: info, ...env } = runs[0]!.env
    expect(JSON.parse(info!)).toEqual({ kind: 'ExecCredential', apiVersion: v1, spec })
    expect(env).toEqual({ PATH: '/bin', A: 'b' })
    expect(runs[0]).toMatchObject({ file: 'login', args: ['--all'], isInteractive: spec.interactive })
  })

  it.each([
    { name: 'no JSON', output: 'token', error: 'its answer is not JSON' },
    { name: 'another version', output: answer({ token: 'a' }, 'client.authentication.k8s.io/v1beta1'), error: `it is configured to use ${v1}, and has answered in client.authentication.k8s.io/v1beta1` },
    { name: 'no status', output: JSON.stringify({ apiVersion: v1 }), error: 'it has answered without a status' },
    { name: 'nothing to prove anything with', output: answer({}), error: 'it has answered with neither a token nor a certificate' },
    { name: 'a certificate without a key', output: answer({ clientCertificateData: 'c' }), error: 'it has answered with a certificate or a key, not with both' },
  ])('says what is wrong when the answer is $name', async ({ output, error }) => {
    await expect(trial([output]).plugin.current()).rejects.toThrow(`exec plug-in of user "u" has failed: ${error}`)
  })

  it('tries again after a failure, when it is asked again', async () => {
    const { plugin } = trial(['', answer({ token: 'a' })])
    await expect(plugin.current()).rejects.toThrow('not JSON')
    expect(await plugin.current()).toMatchObject({ authorization: 'Bearer a' })
  })
})

describe('an exec plug-in of a kubeconfig', () => {
  let dir: string
  beforeEach(() => void (dir = mkdtempSync(path.join(tmpdir(), 'coxswain-exec-'))))
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  async function load(script: string | undefined, exec: object = {}) {
    if (script) {
      writeFileSync(path.join(dir, 'login'), `#!${process.execPath}\n${script}`)
      chmodSync(path.join(dir, 'login'), 0o755)
    }
    const config = {
      clusters: [{ name: 'c', cluster: { server: 'https://c' } }],
      users: [{ name: 'u', user: { exec: { ...entry(), apiVersion: 'client.authentication.k8s.io/v1beta1', command: './login', ...exec } } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }
    const file = path.join(dir, 'kubeconfig')
    writeFileSync(file, JSON.stringify(config))
    return loadAccess({ file, env: process.env, isTerminal: false })
  }

  it('is a command beside it, with its arguments and its environment', async () => {
    const script = `
      require('node:fs').writeFileSync(process.env.OUT, JSON.stringify([process.argv.slice(2), JSON.parse(process.env.KUBERNETES_EXEC_INFO)]))
      console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1beta1', kind: 'ExecCredential', status: { token: 'from the script' } }))
    `
    const out = path.join(dir, 'out')
    const { credentials } = await load(script, { args: ['a', 'b'], env: [{ name: 'OUT', value: out }] })
    expect(await credentials.current()).toMatchObject({ authorization: 'Bearer from the script' })
    const [args, info] = JSON.parse(readFileSync(out, 'utf8')) as [string[], object]
    expect(args).toEqual(['a', 'b'])
    expect(info).toEqual({ kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1beta1', spec: { interactive: false } })
  })

  it('that fails says the last line of what it said', async () => {
    const { credentials } = await load(`console.error('one'); console.error('no such account'); process.exit(3)`)
    await expect(credentials.current()).rejects.toThrow(`exec plug-in of user "u" has failed: ${dir}/login ended with 3: no such account`)
  })

  it('that is not there says how to get it', async () => {
    const { credentials } = await load(undefined, { installHint: 'Install it from example.com\n' })
    await expect(credentials.current()).rejects.toThrow(`exec plug-in of user "u" has failed: ${dir}/login is not there; Install it from example.com`)
  })
})

it('processRunner() ends a command that takes too long', async () => {
  const clock = new VirtualClock()
  const result = processRunner(clock)({ file: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'], env: {}, isInteractive: false })
  const ended = expect(result).rejects.toThrow('did not end within 60 s')
  await clock.advance(60_000)
  await ended
  await expect(processRunner(systemClock)({ file: '/nowhere/at/all', args: [], env: {}, isInteractive: false })).rejects.toThrow('ENOENT')
})
