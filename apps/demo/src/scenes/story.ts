/** A long answer: something to stop, to scroll away from, and to come back to. */
import type { Scene } from '../stage.ts'
import { say } from '../stage.ts'

const story = `# The water under the floor

Before there was a mill there was a bend in the river, and before anyone thought of grain there was someone who stood \
at the bend and noticed that the water had *somewhere to be*. That is where every mill begins: not with a wheel, but \
with a difference in height.

## The weir

The river itself is no use. It is too wide, it is too moody, and in April it takes fences with it. So the first thing \
that is built is a weir, a low wall set slantwise across the stream. It does not stop the water. It persuades a part of \
it to wait, and then offers that part another way.

Nobody who builds a weir has ever been thanked for it by the fish, and for that reason the older ones have a stair of \
pools at one side, where a salmon with patience can climb.

## The race

The other way is the millrace: a channel cut along the contour of the hill, so level that you would take the water in \
it for still. It is not still. Drop a leaf, walk beside it, and you will find that you have to hurry.

A good race has three properties, and a miller will tell you all three before you have sat down:

- it loses nothing, for what seeps away turns no wheel;
- it carries nothing that does not belong, for a branch in the paddles stops the village's bread;
- it can be shut, at any moment, by one person, with one hand.

The last is the hardest. There is a board in a slot, the sluice, black with age and swollen so that it always sticks a \
little. When it comes up, the whole weight of the pond leans forward at once.

## The wheel

There are wheels that the water pushes from below, and those are for lazy rivers. There are wheels that it strikes in \
the middle. And there are wheels that take the water at the top, in buckets, and carry it down as a man carries \
a child, and these are the best, for they use the weight and not the haste.

You hear it before you see it. First a drip, then a creak of oak on oak, then a sound like someone turning over in \
a very large bed. After that it does not stop all day, and by evening nobody in the house can hear it any more. When it \
stops in the night, everyone wakes.

## The stones

From the wheel a shaft goes through the wall, and there the water's work ends and the wood's begins: a crown of pegs, \
a lantern of staves, a spindle of iron, and on top of it a stone of nine hundred kilos, hung so finely that it floats a \
hair above its fellow. If they touch, they strike fire. If they stand too far apart, the flour is sand.

The miller sets that distance by rubbing the meal between thumb and finger. Ask how he knows, and he will show you his \
thumb, which is broad and smooth, and say nothing.

## What goes on

At the tail of the mill the water comes out under an arch. It has lost four metres and some of its temper. It has \
ground the rye of eleven farms. It runs a hundred paces through mint and nettles, finds the river where the river has \
been all the time, and is taken back without a question.

That is the part worth remembering. Nothing was used up. A current was given a narrow way, for a short while, with \
something at the end of it that turns.`

export const tell: Scene = async (stage) => {
  await say(stage, story, 22)
}
