// The declarations of types for CommonJS; it is only compiled.

import oz = require('rossum-oz')

const robot = new oz.Client()
robot.on('speakGesture', (gesture) => gesture === oz.Gesture.NO_SHORT)
robot.connect().then(() => robot.speak(oz.Tag.YES_LONG))
