import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useEverything } from '../kubectl/cluster.ts'
import { kubectlBinary } from '../kubectl/kubectl-binary.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** A block of commands on a page, and what it is to write, where the page shows it. */
interface Block {
  commands: string
  output?: string
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(path.join(root, 'docs', page), 'utf8')
  const found = text.matchAll(/^```sh\n([\s\S]*?)^```$(?:\n\n```text\n([\s\S]*?)^```$)?/gm)
  return Array.from(found, ([, commands = '', output]) => ({ commands, ...(output === undefined ? {} : { output }) }))
}

/** Times and hashes differ each time. */
const masked = (text: string): string =>
  text.trim().replaceAll(
    /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME',
  ).replaceAll(/\b(db|shop)-[0-9a-f]{6,12}\b/g, '$1-HASH')

const limitMs = 90_000

const cluster = useEverything(['--runtime', 'simulated', '--nodes', '2'])
let bin: string

beforeAll(() => {
  bin = path.join(cluster.kubectl.dir, 'bin')
  mkdirSync(bin)
  symlinkSync(kubectlBinary(), path.join(bin, 'kubectl'))
  writeFileSync(
    path.join(bin, 'coxswain'), `#!/bin/sh\nexec '${process.execPath}' '${root}/bin/coxswain' "$@"\n`, { mode: 0o755 },
  )
})

/** Runs commands as somebody does who types them, from the checkout. */
function type(commands: string): Promise<{ code: number | null; out: string; err: string }> {
  const { dir } = cluster.kubectl
  const env = {
    PATH: `${bin}:${process.env['PATH']}`, HOME: path.join(dir, 'home'), KUBECACHEDIR: path.join(dir, 'home/cache'),
    KUBECONFIG: cluster.server.kubeconfig, TZ: 'UTC', NO_COLOR: '1',
  }
  const child = spawn(
    'sh', ['-eu', '-c', commands], { cwd: root, env, timeout: limitMs, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}

describe('docs/conditions.md', () => {
  const blocks = blocksOf('conditions.md')

  it.each(blocks.map((block) => ({ name: block.commands.split('\n')[0]!, block })))('$name', async ({ block }) => {
    const { code, out, err } = await type(block.commands)
    expect({ code, err }).toEqual({ code: 0, err: expect.any(String) as string })
    if (block.output !== undefined) expect(masked(out)).toBe(masked(block.output))
  }, limitMs + 10_000)

  it('has commands, and shows what some of them write', () => {
    expect(blocks.length).toBeGreaterThan(5)
    expect(blocks.filter(({ output }) => output !== undefined).length).toBeGreaterThan(2)
  })
})

it('docs/clonesets.md: what to type to wait for a rollout', async () => {
  const { commands } = blocksOf('clonesets.md').find((block) => block.commands.includes('observedGeneration'))!
  const manifests = readFileSync(path.join(root, 'examples/conditions.yaml'), 'utf8').split('---\n')
  const shop = manifests.find((text) => text.includes('kind: CloneSet'))!
  await cluster.kubectl.ok('apply -f -', shop.replace('name: shop', 'name: web').replaceAll('app: shop', 'app: other'))
  await cluster.kubectl.ok('wait --for=condition=Available clone/web --timeout=20s')
  const images = () => cluster.kubectl.ok('get pods -l app=other -o jsonpath={.items[*].spec.containers[0].image}')
  expect(await images()).toBe('app:1 app:1')
  expect(await type(commands)).toMatchObject({ code: 0 })
  // It has waited: nothing of the old revision is left.
  expect(await images()).toBe('app:2 app:2')
}, limitMs)
