import { expect, it } from 'vitest'
import { credentialsFor } from './pull-credentials.ts'

const servers = [
  'https://index.docker.io/v1/', 'registry.example.com', 'registry.example.com/team', '*.example.org', 'localhost:5000', 'http://plain.example.com/v2/', 'docker.io/crew',
]
const all = servers.map((server) => ({ server, username: 'u', password: 'p' }))

it.each([
  ['nginx', ['https://index.docker.io/v1/']],
  ['crew/boat:1', ['https://index.docker.io/v1/', 'docker.io/crew']],
  ['registry.example.com/team/app:1', ['registry.example.com/team', 'registry.example.com']],
  ['registry.example.com/teams/app', ['registry.example.com']],
  ['a.example.org/x@sha256:0', ['*.example.org']],
  ['a.b.example.org/x', []],
  ['localhost:5000/x:2', ['localhost:5000']],
  ['localhost:5001/x', []],
  ['plain.example.com/x', ['http://plain.example.com/v2/']],
  ['other.example.net/x', []],
])('credentialsFor(%s) are those of its registry, the most specific first', (image, expected) => {
  expect(credentialsFor(image, all).map(({ server }) => server)).toEqual(expected)
})
