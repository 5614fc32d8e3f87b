// Writes deploy/: the kustomize bases and the Helm chart, from the same manifests that `coxswain manifests` prints.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { deployFiles } from '../src/cluster/manifests/deploy-files.ts'

const root = process.cwd()
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
for (const folder of ['kustomize', 'helm']) rmSync(path.join(root, 'deploy', folder), { recursive: true, force: true })
for (const [file, text] of deployFiles(version)) {
  const target = path.join(root, 'deploy', file)
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, text)
}
