import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'
import { kubectlBinary } from '../kubectl/kubectl-binary.ts'
import { type CommandBlock, readPage, unmarkedCommands } from '../kubectl/page.ts'

const root = path.resolve(import.meta.dirname, '../..')
const docs = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'))
const names = ['README.md', 'CONTRIBUTING.md', ...docs.filter((name) => !name.startsWith('api/')).map((name) => path.join('docs', name)).sort()]
const pages = names.map((name) => ({ name, text: readFileSync(path.join(root, name), 'utf8') }))

/** Times and hashes differ each time. */
const masked = (text: string): string =>
  text.trim()
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME')
    .replaceAll(/\b([a-z]+)-[0-9a-f]{6,12}(?:-[a-z0-9]{5})?\b/g, '$1-HASH')
    .replaceAll(/ +/g, ' ')

const limitMs = 90_000

/** A port of its own for each server that a page starts, because the usual one may be taken. */
const freePort: Readonly<Record<string, string>> = {
  up: '--secure-port=0 --dashboard-port=0 --data-dir=.coxswain-page', apiserver: '--secure-port=0 --data-dir=.coxswain-page', monitor: '--port=0', controllers: '--secure-port=0', scheduler: '--secure-port=0', dashboard: '--port=0',
}

const wrapper = [
  '#!/bin/sh',
  'case "$SERVING $1" in',
  ...Object.entries(freePort).map(([command, flags]) => `"yes ${command}") set -- "$@" ${flags} ;;`),
  'esac',
  `exec '${process.execPath}' '${root}/bin/coxswain' "$@"`,
].join('\n')

const objectives = path.join(root, 'examples/slo.yaml')
const cluster = useEverything(['--runtime', 'simulated', '--nodes', '2', '--dashboard=false', '--slo-file', objectives])
let bin: string

beforeAll(() => {
  bin = path.join(cluster.kubectl.dir, 'bin')
  mkdirSync(bin)
  symlinkSync(kubectlBinary(), path.join(bin, 'kubectl'))
  writeFileSync(path.join(bin, 'coxswain'), `${wrapper}\n`, { mode: 0o755 })
})

/** Ends a command that hangs, with all that it has started. */
const endLater = (child: ChildProcess): NodeJS.Timeout => setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), limitMs)

/**
 * The environment in which a page's commands run: a directory with the files of the page, and a namespace in the
 * cluster.
 */
class Reader {
  readonly directory: string
  readonly #env: Record<string, string>

  constructor(name: string, files: ReadonlyMap<string, string>) {
    this.directory = path.join(cluster.kubectl.dir, 'pages', name.replaceAll('/', '-'))
    mkdirSync(this.directory, { recursive: true })
    for (const folder of ['examples', 'deploy']) symlinkSync(path.join(root, folder), path.join(this.directory, folder))
    const { kubeconfig } = cluster.server
    symlinkSync(path.dirname(kubeconfig), path.join(this.directory, '.coxswain'))
    const own = path.join(this.directory, 'kubeconfig')
    copyFileSync(kubeconfig, own)
    for (const [file, text] of files) writeFileSync(path.join(this.directory, file), text)
    const home = path.join(cluster.kubectl.dir, 'home')
    this.#env = { PATH: `${bin}:${process.env['PATH']}`, HOME: home, KUBECACHEDIR: path.join(home, 'cache'), KUBECONFIG: own, TZ: 'UTC', NO_COLOR: '1' }
  }

  #spawn(commands: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn('bash', ['-euo', 'pipefail', '-c', commands], { cwd: this.directory, env: { ...this.#env, ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  /** Runs commands to their end. */
  async type(commands: string): Promise<{ code: number | null; out: string; err: string }> {
    const child = this.#spawn(commands)
    const tooLate = endLater(child)
    let [out, err] = ['', '']
    child.stdout!.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr!.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    clearTimeout(tooLate)
    return { code, out, err }
  }

  /** Runs commands until the last of them says that it is ready, stops it, and answers what was said. */
  async serve(commands: string): Promise<string> {
    const child = this.#spawn(commands, { SERVING: 'yes' })
    let said = ''
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const ready = new Promise<void>((resolve) => {
      for (const stream of [child.stdout!, child.stderr!])
        stream.on('data', (chunk: Buffer) => {
          said += chunk.toString()
          if (/^ready /m.test(said)) resolve()
        })
    })
    const tooLate = endLater(child)
    await Promise.race([ready, ended])
    if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM')
    await ended
    clearTimeout(tooLate)
    return said
  }
}

const runOf = (text: string): CommandBlock[] => readPage(text).blocks.filter(({ notRun }) => notRun === undefined)

describe.each(pages.filter(({ text }) => runOf(text).length > 0))('$name', ({ name, text }) => {
  const { files } = readPage(text)
  const namespace = `page-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replace(/-md$/, '')}`
  let reader: Reader

  beforeAll(async () => {
    reader = new Reader(name, files)
    await cluster.kubectl.ok(`create namespace ${namespace}`)
    await cluster.kubectl.ok(`wait --for=create serviceaccount/default -n ${namespace} --timeout=60s`)
    expect(await reader.type(`kubectl config set-context --current --namespace=${namespace}`)).toMatchObject({ code: 0 })
  })

  // Faults of one page are not for the next.
  afterAll(() => reader.type('coxswain fault clear'))

  it.each(runOf(text).map((block) => ({ at: `line ${block.line}: ${block.commands.split('\n')[0]}`, block })))('$at', async ({ block }) => {
    await check(reader, block)
  }, 2 * limitMs)
})

async function check(reader: Reader, { commands, output, setup, isServer }: CommandBlock): Promise<void> {
  if (setup !== '') expect(await reader.type(setup)).toMatchObject({ code: 0 })
  if (isServer) return expect(await reader.serve(commands)).toMatch(/^ready /m)
  const { code, out, err } = await reader.type(commands)
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) as string })
  if (output !== undefined) expect(masked(out)).toBe(masked(output))
}

it.each(pages)('$name marks all commands, so that they are run', ({ text }) => expect(unmarkedCommands(text)).toEqual([]))

/** The blocks that are shown only, by their page and first words. */
const shownOnly = [
  'README.md: npm ci && npm start',
  'README.md: npm ci && npm test',
  'docs/authentication.md: coxswain node --join',
  'docs/claim-recovery.md: $ kubectl describe statefulset',
  'docs/engine.md: coxswain doctor --store',
  'docs/engine.md: coxswain token create',
  'docs/engine.md: coxswain up --join',
  'docs/engine.md: kubectl get nodes',
  'docs/on-your-cluster.md: coxswain manifests |',
  'docs/on-your-cluster.md: kubectl delete -k',
  'docs/services.md: kubectl apply -f examples/three-tier.yaml',
  'docs/simulation.md: npm run simulate',
  'docs/tutorials/first-operator.md: npx vitest run',
  'docs/tutorials/first-operator.md: npm run build:modules',
  'docs/tutorials/five-minutes.md: npm ci && npm start',
]

it('all other blocks of commands are run', () => {
  const blocks = pages.flatMap(({ name, text }) => readPage(text).blocks.map((block) => ({ name, ...block })))
  const found = blocks.filter(({ notRun }) => notRun !== undefined).map(({ name, commands }) => `${name}: ${commands}`)
  expect(blocks.filter(({ notRun }) => notRun !== undefined && notRun.length < 10)).toEqual([])
  expect(blocks.length).toBeGreaterThan(60)
  expect(found.filter((block) => !shownOnly.some((first) => block.startsWith(first)))).toEqual([])
  expect(shownOnly.filter((first) => !found.some((block) => block.startsWith(first)))).toEqual([])
})
