import { electionConformance } from '../../src/client/leadership/conformance/index.ts'
import { type World, httpWorld, inProcessWorld } from './worlds.ts'

const within = (open: () => Promise<World>) => async () => {
  const world = await open()
  return { transport: () => world.transport, settle: () => world.pass(0), close: () => world.close() }
}

electionConformance('the server in the same process', within(inProcessWorld), [1, 2, 3])
electionConformance('HTTP', within(httpWorld), [1])
