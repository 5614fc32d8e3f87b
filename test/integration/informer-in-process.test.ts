import { informerSuite } from './informer.suite.ts'
import { inProcessWorld } from './worlds.ts'

informerSuite('in the same process', inProcessWorld)
