using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Threading;
using System.Threading.Tasks;
using Rossum.Oz;

/// <summary>What the conformance suite cannot show: threads, tasks, contexts, and .NET's own types.</summary>
internal sealed class Tests
{
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(30);

    private static int Main()
    {
        var tests = typeof(Tests).GetMethods(BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly);
        foreach (var test in tests)
        {
            ((Task)test.Invoke(new Tests(), null)).GetAwaiter().GetResult();
            Console.Error.WriteLine(test.Name + " ok");
        }
        return tests.Length > 0 ? 0 : 1;
    }

    public async Task ManyThreadsSpeakAtOnce()
    {
        using (var robot = Robot.ThatEndsEveryText())
        using (var client = await ConnectedAsync(robot))
        {
            var threads = Enumerable.Range(0, 8).Select(number => Task.Run(async () =>
            {
                for (var i = 0; i < 50; i++)
                {
                    await InTime(client.SpeakAsync("Hello"));
                }
            }));
            await Task.WhenAll(threads);
            Equal(client.IsSpeaking, false);
        }
    }

    public async Task DisconnectingWakesWhatWaits()
    {
        using (var robot = Robot.ThatListens())
        using (var client = await ConnectedAsync(robot))
        {
            var speech = client.SpeakAsync("Hello");
            var waiting = client.WaitForSpeakAsync();
            await client.DisconnectAsync();
            Equal((await FailsAsync<OzException>(speech)).Kind, OzError.Closed);
            Equal((await FailsAsync<OzException>(waiting)).Kind, OzError.Closed);
            Equal((await FailsAsync<OzException>(() => client.GestureAsync(Gesture.YesLong))).Kind, OzError.Closed);
        }
    }

    public async Task HandlersAndContinuationsMayBlock()
    {
        using (var robot = Robot.ThatEndsEveryText())
        using (var client = await ConnectedAsync(robot))
        using (var ends = new CountdownEvent(2))
        {
            client.SpeakStart += (sender, e) =>
            {
                if (e.Text == "first")
                {
                    client.SpeakAsync("in a handler").Wait();
                    ends.Signal();
                }
            };
            var continued = client.SpeakAsync("first").ContinueWith(
                spoken =>
                {
                    client.SpeakAsync("after it").Wait();
                    ends.Signal();
                },
                TaskContinuationOptions.ExecuteSynchronously);
            Equal(ends.Wait(Long), true);
            await continued;
        }
    }

    public async Task EventsComeInTheContextOfTheClient()
    {
        var context = new Queueing();
        var told = new List<string>();
        using (var robot = Robot.ThatEndsEveryText())
        {
            var former = SynchronizationContext.Current;
            SynchronizationContext.SetSynchronizationContext(context);
            var client = new OzClient("127.0.0.1", robot.Port);
            SynchronizationContext.SetSynchronizationContext(former);
            client.Connected += (sender, e) => told.Add("connected to " + e.Name);
            client.SpeakDone += (sender, e) => told.Add("spoken");
            await InTime(client.ConnectAsync());
            await InTime(client.SpeakAsync("Hello"));
            Equal(told.Count, 0);
            while (context.Posted.Count > 0)
            {
                context.Posted.Take()();
            }
            Equal(string.Join(", ", told), "connected to alice, spoken");
            client.Dispose();
        }
    }

    public async Task MistakesOfTheProgramAreReported()
    {
        using (var robot = Robot.ThatListens())
        using (var client = await ConnectedAsync(robot))
        {
            await FailsAsync<InvalidOperationException>(() => client.ConnectAsync());
            await FailsAsync<ArgumentException>(() => client.SpeakAsync("\ud800"));
            await FailsAsync<ArgumentException>(() => Task.FromResult(new OzClient("alice", 65536)));
            await FailsAsync<ArgumentException>(() => Task.FromResult(((Gesture)13).Tag()));
            var few = await FailsAsync<OzException>(() =>
            {
                client.SetAllServos(new double[35]);
                return Task.CompletedTask;
            });
            Equal(few.Message, "35 positions; a robot has 36 servos");
            Equal(client.IsConnected, true);
            Equal(client.IsSpeaking || client.IsGesturing, false);
        }
    }

    public async Task ConnectingAndWaitingCanBeCancelled()
    {
        var silent = new TcpListener(IPAddress.Loopback, 0);
        silent.Start();
        using (var client = new OzClient("127.0.0.1", ((IPEndPoint)silent.LocalEndpoint).Port))
        using (var source = new CancellationTokenSource())
        {
            var connecting = client.ConnectAsync(source.Token);
            source.Cancel();
            await FailsAsync<OperationCanceledException>(connecting);
            Equal(client.IsConnected, false);
        }
        silent.Stop();
        using (var robot = Robot.ThatListens())
        using (var client = await ConnectedAsync(robot))
        using (var source = new CancellationTokenSource())
        {
            _ = client.SpeakAsync("Hello");
            var waiting = client.WaitForSpeakAsync(null, source.Token);
            source.Cancel();
            await FailsAsync<OperationCanceledException>(waiting);
        }
    }

    public async Task AClientThatCouldNotConnectMayTryAgain()
    {
        var nobody = new TcpListener(IPAddress.Loopback, 0);
        nobody.Start();
        var port = ((IPEndPoint)nobody.LocalEndpoint).Port;
        nobody.Stop();
        using (var client = new OzClient("127.0.0.1", port))
        {
            for (var i = 0; i < 2; i++)
            {
                Equal((await FailsAsync<OzException>(client.ConnectAsync())).Kind, OzError.Unreachable);
            }
        }
    }

    public async Task SlowProgramsLoseOldImagesOnly()
    {
        var file = new byte[] { 0xff, 0xd8 };
        const int Count = 20;
        using (var robot = new Robot(stream =>
        {
            stream.Read(new byte[11], 0, 11);
            for (var i = 0; i < Count; i++)
            {
                stream.Write(Robot.Word(Message.VideoFrame), 0, 4);
                stream.Write(new byte[] { 0, 0, 0, 3, file[0], file[1], (byte)i }, 0, 7);
            }
            stream.Write(Robot.Word(Message.SpeakDone), 0, 4);
            stream.ReadByte();
        }))
        using (var client = new OzClient("127.0.0.1", robot.Port))
        using (var held = new ManualResetEventSlim())
        using (var done = new ManualResetEventSlim())
        {
            var images = new List<int>();
            client.Connected += (sender, e) => held.Wait(Long);
            client.VideoFrame += (sender, e) => images.Add(e.OpenRead().Length == e.Length ? e.ToArray()[2] : -1);
            client.SpeakDone += (sender, e) => done.Set();
            await InTime(client.ConnectAsync());
            // the end of the text has been read, and so have all images before it
            await InTime(client.SpeakAsync("Hello"));
            held.Set();
            Equal(done.Wait(Long), true);
            Equal(string.Join(" ", images), string.Join(" ", Enumerable.Range(Count - 8, 8)));
        }
    }

    private static async Task<OzClient> ConnectedAsync(Robot robot)
    {
        var client = new OzClient("127.0.0.1", robot.Port);
        await InTime(client.ConnectAsync());
        return client;
    }

    private static async Task InTime(Task task)
    {
        if (await Task.WhenAny(task, Task.Delay(Long)) != task)
        {
            throw new TimeoutException();
        }
        await task;
    }

    private static void Equal<T>(T found, T wanted)
    {
        if (!Equals(found, wanted))
        {
            throw new InvalidOperationException($"found {found} instead of {wanted}");
        }
    }

    private static Task<E> FailsAsync<E>(Task task) where E : Exception => FailsAsync<E>(() => task);

    private static async Task<E> FailsAsync<E>(Func<Task> action) where E : Exception
    {
        try
        {
            await InTime(action());
        }
        catch (E error)
        {
            return error;
        }
        throw new InvalidOperationException("no " + typeof(E).Name);
    }

    /// <summary>A context like that of a user interface, with a queue.</summary>
    private sealed class Queueing : SynchronizationContext
    {
        internal BlockingCollection<Action> Posted { get; } = new BlockingCollection<Action>();

        public override void Post(SendOrPostCallback callback, object state) => Posted.Add(() => callback(state));
    }
}
